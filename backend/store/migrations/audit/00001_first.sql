-- +goose Up
create table audit_begin (
    seq             integer primary key autoincrement,
    call_id         text not null,
    parent_id       text not null,
    at              bigint not null, -- microseconds since 1970, UTC
    principal_kind  text not null,
    agent_id        text not null,
    conversation_id text not null,
    run_id          text not null,
    tool_kind       text not null,
    server          text not null,
    tool            text not null,
    digest          text not null,
    arguments       text not null
);

create table audit_end (
    seq    integer primary key references audit_begin (seq),
    at     bigint not null,
    effect text not null,
    rule   text not null,
    why    text not null,
    risk   text not null,
    answer text not null,
    status text not null,
    error  text not null,
    bytes  bigint not null,
    millis bigint not null
);

-- The log is append-only, also for us.
-- +goose StatementBegin
create trigger audit_begin_no_update before update on audit_begin begin select raise(abort, 'the audit log is append-only'); end;
-- +goose StatementEnd
-- +goose StatementBegin
create trigger audit_begin_no_delete before delete on audit_begin begin select raise(abort, 'the audit log is append-only'); end;
-- +goose StatementEnd
-- +goose StatementBegin
create trigger audit_end_no_update before update on audit_end begin select raise(abort, 'the audit log is append-only'); end;
-- +goose StatementEnd
-- +goose StatementBegin
create trigger audit_end_no_delete before delete on audit_end begin select raise(abort, 'the audit log is append-only'); end;
-- +goose StatementEnd

-- +goose Down
drop table audit_end;
drop table audit_begin;
