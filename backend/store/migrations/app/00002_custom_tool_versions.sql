-- +goose Up
create table custom_tool_versions (
    id       integer primary key autoincrement,
    name     text not null,   -- of the tool as it is called now
    saved_at bigint not null, -- microseconds since 1970, UTC: when it was replaced
    body     text not null    -- core.CustomTool as JSON
);
create index custom_tool_versions_name on custom_tool_versions (name, id);

-- +goose Down
drop table custom_tool_versions;
