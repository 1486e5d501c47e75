import { useState } from "react";
import { tokenFrom } from "@/api/wire-http";
import { Mark } from "@/components/mark";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";

/** Shown in a browser that brings no token, or one that the daemon does not know. */
export function TokenPage({ refused, onToken }: { refused: boolean; onToken: (token: string) => void }) {
  const [text, setText] = useState("");
  const [bad, setBad] = useState(false);
  return (
    <main className="flex h-full items-center justify-center p-6">
      <form
        className="grid w-full max-w-md gap-4"
        onSubmit={(e) => {
          e.preventDefault();
          const token = tokenFrom(text);
          if (token) onToken(token);
          else setBad(true);
        }}
      >
        <h1 className="flex items-center gap-2 font-semibold text-xl">
          <Mark className="size-6 text-accent" /> Patchbay
        </h1>
        <p className="text-ink-2">
          {refused
            ? "The daemon does not know this page's token; it makes a new one each time it starts. "
            : ""}
          Open the link that{" "}
          <code className="rounded-sm bg-sunken px-1 font-mono text-[0.9em]">patchbay serve</code> printed, or
          paste the link or the token here.
        </p>
        <Field
          label="Link or token"
          error={bad ? "That is neither a link with a token nor a token." : undefined}
        >
          {(ids) => (
            <Input
              {...ids}
              type="password"
              autoComplete="off"
              autoFocus
              value={text}
              onChange={(e) => {
                setText(e.target.value);
                setBad(false);
              }}
            />
          )}
        </Field>
        <Button type="submit" variant="primary" className="justify-self-start" disabled={!text.trim()}>
          Connect
        </Button>
      </form>
    </main>
  );
}
