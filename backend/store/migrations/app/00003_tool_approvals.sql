-- +goose Up
create table tool_approvals (
    kind   text not null,
    server text not null,
    name   text not null,
    body   text not null, -- core.ToolApproval as JSON
    primary key (kind, server, name)
);

-- +goose Down
drop table tool_approvals;
