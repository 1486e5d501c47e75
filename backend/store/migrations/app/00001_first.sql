-- +goose Up
create table conversations (
    id          text primary key,
    title       text not null,
    agent_id    text not null,
    provider_id text not null,
    model       text not null,
    created_at  bigint not null, -- microseconds since 1970, UTC
    updated_at  bigint not null
);

create table messages (
    id              text primary key,
    conversation_id text not null references conversations (id) on delete cascade,
    position        bigint not null,
    body            text not null, -- core.Message as JSON
    unique (conversation_id, position)
);

create table agents (
    id       text primary key,
    position bigint not null,
    body     text not null -- core.Agent as JSON
);

create table providers (
    id       text primary key,
    position bigint not null,
    body     text not null -- core.Provider as JSON
);

create table settings (
    name  text primary key,
    value text not null
);

-- +goose Down
drop table settings;
drop table providers;
drop table agents;
drop table messages;
drop table conversations;
