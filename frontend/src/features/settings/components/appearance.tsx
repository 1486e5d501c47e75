import { Monitor, Moon, Sun } from "lucide-react";
import { toastError } from "@/components/toast";
import { cn } from "@/lib/cn";
import { useSettings, useUpdateSettings } from "../queries";

const themes = [
  { value: "system", label: "Like the system", icon: Monitor },
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
];

export function Appearance() {
  const theme = useSettings().data?.theme || "system";
  const update = useUpdateSettings();
  return (
    <fieldset className="grid grid-cols-1 gap-2">
      <legend className="mb-2 font-medium text-sm">Theme</legend>
      <div className="flex flex-wrap gap-2">
        {themes.map(({ value, label, icon: Icon }) => (
          <label
            key={value}
            className={cn(
              "flex h-9 items-center gap-2 rounded-md border border-line bg-surface px-3 text-sm has-focus-visible:outline-2 has-focus-visible:outline-accent hover:bg-hover",
              theme === value && "border-accent bg-accent-soft font-medium",
            )}
          >
            <input
              type="radio"
              name="theme"
              className="sr-only"
              checked={theme === value}
              onChange={() => update.mutate({ theme: value }, { onError: (e) => toastError(e) })}
            />
            <Icon className="size-4" aria-hidden /> {label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
