import { Plus, X } from "lucide-react";
import { useState } from "react";
import type { BuiltinAccess } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { Button, IconButton } from "@/components/ui/button";
import { Input, NativeSelect } from "@/components/ui/input";
import { useSettings, useUpdateSettings } from "../queries";

/** The folders that the built-in tools may get at. */
export function BuiltinFolders() {
  const access: BuiltinAccess = useSettings().data?.builtin ?? { folders: [], allowPrivate: false };
  const update = useUpdateSettings();
  const [path, setPath] = useState("");
  const save = (builtin: BuiltinAccess, done?: () => void) => update.mutate({ builtin }, { onSuccess: done });
  const folders = access.folders ?? [];
  const add = () => {
    if (path.trim() === "") return;
    save({ ...access, folders: [...folders, { path: path.trim(), write: false }] }, () => setPath(""));
  };
  return (
    <fieldset className="grid grid-cols-1 gap-2">
      <legend className="mb-2 font-medium text-sm">Folders for the built-in tools</legend>
      <p className="text-ink-2 text-sm">
        Reading, writing and searching files, and commands, stay in these folders. An agent has a built-in
        tool only when you choose it for that agent.
      </p>
      {folders.length > 0 && (
        <ul className="grid gap-1.5" aria-label="Folders for the built-in tools">
          {folders.map((f) => (
            <li key={f.path} className="flex items-center gap-2">
              <span className="min-w-0 flex-1 truncate font-mono text-xs" title={f.path}>
                {f.path}
              </span>
              <NativeSelect
                aria-label={`What tools may do in ${f.path}`}
                className="w-36"
                value={f.write ? "write" : "read"}
                onChange={(e) =>
                  save({
                    ...access,
                    folders: folders.map((o) =>
                      o.path === f.path ? { ...o, write: e.target.value === "write" } : o,
                    ),
                  })
                }
              >
                <option value="read">Read only</option>
                <option value="write">Read and write</option>
              </NativeSelect>
              <IconButton
                label={`Remove ${f.path}`}
                onClick={() => save({ ...access, folders: folders.filter((o) => o.path !== f.path) })}
              >
                <X />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      <div className="flex gap-2">
        <Input
          aria-label="Folder to add"
          className="font-mono text-xs"
          placeholder="/home/me/project or ~/project"
          value={path}
          onChange={(e) => setPath(e.target.value)}
          onKeyDown={(e) => {
            if (e.key === "Enter") {
              e.preventDefault();
              add();
            }
          }}
        />
        <Button disabled={path.trim() === ""} onClick={add}>
          <Plus /> Add
        </Button>
      </div>
      {update.error && <ErrorNote error={update.error} title="The folders were not changed." />}
      <label className="flex items-start gap-2 text-sm">
        <input
          type="checkbox"
          className="mt-0.5 accent-(--accent)"
          checked={access.allowPrivate}
          onChange={(e) => save({ ...access, folders, allowPrivate: e.target.checked })}
        />
        Fetching a URL may reach this computer and private networks
      </label>
    </fieldset>
  );
}
