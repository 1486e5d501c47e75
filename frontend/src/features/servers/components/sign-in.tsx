import { useEffect, useRef, useState } from "react";
import { toastDone, toastError } from "@/components/toast";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { finishSignIn, signIn, signOut } from "../queries";

/** Signing in to a server: the browser does it, the address may be pasted. */
export function useSignIn(name: string) {
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const abort = useRef<AbortController>(undefined);
  const start = () => {
    abort.current?.abort();
    const mine = new AbortController();
    abort.current = mine;
    setPending(true);
    setError(undefined);
    signIn(name, mine.signal)
      .then(
        () => toastDone(`Signed in to ${name}`),
        (err: unknown) => mine.signal.aborted || setError(err),
      )
      .finally(() => abort.current === mine && setPending(false));
  };
  const forget = () =>
    signOut(name).then(
      () => toastDone(`Signed out of ${name}`),
      (err: unknown) => toastError(err),
    );
  return { pending, error, start, forget, cancel: () => abort.current?.abort() };
}

export function SignInPanel({ name, onCancel }: { name: string; onCancel: () => void }) {
  const [address, setAddress] = useState("");
  const panel = useRef<HTMLDivElement>(null);
  // The button that began it is gone.
  useEffect(() => panel.current?.focus(), []);
  const finish = () => finishSignIn(name, address).catch((err: unknown) => toastError(err));
  return (
    <div
      ref={panel}
      role="group"
      aria-label={`Signing in to ${name}`}
      tabIndex={-1}
      className="grid grid-cols-1 gap-2 rounded-md border border-line bg-surface p-3 text-sm"
    >
      <p>
        Finish in your browser. If it ends on a page that cannot be reached, copy its whole address and paste
        it here.
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <Input
          aria-label="Address at which the browser ended"
          className="min-w-0 flex-1 basis-60 font-mono text-xs"
          placeholder="http://127.0.0.1:…/callback?code=…"
          value={address}
          onChange={(e) => setAddress(e.target.value)}
        />
        <Button size="sm" disabled={address.trim() === ""} onClick={() => void finish()}>
          Finish
        </Button>
        <Button size="sm" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
