import type { GrantType, ServerAuth } from "@/api/types";
import { Mask } from "@/api/types";
import { Field } from "@/components/ui/field";
import { Input, NativeSelect, Textarea } from "@/components/ui/input";

interface AuthEditorProps {
  auth?: ServerAuth | undefined;
  onChange: (auth: ServerAuth | undefined) => void;
}

const grants: { value: GrantType; label: string; hint: string }[] = [
  { value: "", label: "A person signs in", hint: "A browser opens when the server asks for it." },
  {
    value: "client_credentials",
    label: "Client credentials",
    hint: "The server is given this app's id and secret; no person signs in.",
  },
  {
    value: "workload_identity",
    label: "Workload identity",
    hint: "A token of the machine or the job is exchanged for one of the server.",
  },
  {
    value: "enterprise_managed",
    label: "Managed by an organisation",
    hint: "The organisation's identity provider vouches for the person.",
  },
];

/** How to sign in, beyond what the server tells by itself. Secrets are shown as masks. */
export function AuthEditor({ auth, onChange }: AuthEditorProps) {
  const now = auth ?? {};
  const grant = now.grant ?? "";
  const set = (change: Partial<ServerAuth>) => {
    const next = { ...now, ...change };
    const empty = Object.values(next).every((v) => !v || (Array.isArray(v) && v.length === 0));
    onChange(empty ? undefined : next);
  };
  const idp = now.identityProvider ?? { tokenUrl: "", clientId: "" };
  return (
    <details data-place="auth" className="border-line border-t pt-4" open={auth !== undefined || undefined}>
      <summary className="font-medium text-sm">Signing in</summary>
      <div className="mt-3 grid grid-cols-1 gap-4 sm:grid-cols-2">
        <Field label="How" hint={grants.find((g) => g.value === grant)?.hint}>
          {(ids) => (
            <NativeSelect
              {...ids}
              value={grant}
              onChange={(e) => set({ grant: e.target.value as GrantType })}
            >
              {grants.map((g) => (
                <option key={g.value} value={g.value}>
                  {g.label}
                </option>
              ))}
            </NativeSelect>
          )}
        </Field>
        <Text
          label="Client id"
          hint="Empty means that Patchbay introduces itself."
          value={now.clientId}
          onChange={(clientId) => set({ clientId })}
        />
        <Secret
          label="Client secret"
          value={now.clientSecret}
          onChange={(clientSecret) => set({ clientSecret })}
        />
        <Text
          label="Issuer"
          hint="The authorization server that the client id belongs to."
          value={now.issuer}
          onChange={(issuer) => set({ issuer })}
        />
        <Text
          label="Scopes"
          hint="Beside those that the server names; with spaces between."
          value={now.scopes?.join(" ")}
          onChange={(v) => set({ scopes: v.split(" ").filter((x, i, all) => x || i === all.length - 1) })}
        />
        {grant === "" && (
          <Text
            label="Redirect URL"
            hint="Only if the client id was registered with a fixed one."
            value={now.redirectUrl}
            onChange={(redirectUrl) => set({ redirectUrl })}
          />
        )}
        {(grant === "workload_identity" || grant === "enterprise_managed") && (
          <Secret label="Assertion" value={now.assertion} onChange={(assertion) => set({ assertion })} />
        )}
        {grant === "enterprise_managed" && (
          <>
            <Text
              label="Token URL of the identity provider"
              value={idp.tokenUrl}
              onChange={(tokenUrl) => set({ identityProvider: { ...idp, tokenUrl } })}
            />
            <Text
              label="Client id there"
              value={idp.clientId}
              onChange={(clientId) => set({ identityProvider: { ...idp, clientId } })}
            />
            <Secret
              label="Client secret there"
              value={idp.clientSecret}
              onChange={(clientSecret) => set({ identityProvider: { ...idp, clientSecret } })}
            />
          </>
        )}
        {grant === "client_credentials" && (
          <Field
            className="sm:col-span-2"
            label="Private key"
            hint="A PEM block that signs in the place of the client secret."
          >
            {(ids) => (
              <Textarea
                {...ids}
                spellCheck={false}
                className="font-mono text-xs"
                value={now.privateKey ?? ""}
                onChange={(e) => set({ privateKey: typed(now.privateKey, e.target.value) })}
              />
            )}
          </Field>
        )}
        <label className="flex items-center gap-2 text-sm sm:col-span-2">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={now.dpop ?? false}
            onChange={(e) => set({ dpop: e.target.checked })}
          />
          Bind tokens to this computer (DPoP), also where the server does not demand it
        </label>
      </div>
    </details>
  );
}

interface TextProps {
  label: string;
  hint?: string;
  value?: string | undefined;
  onChange: (value: string) => void;
}

function Text({ label, hint, value, onChange }: TextProps) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <Input
          {...ids}
          className="font-mono text-xs"
          value={value ?? ""}
          onChange={(e) => onChange(e.target.value)}
        />
      )}
    </Field>
  );
}

function Secret({ label, value, onChange }: TextProps) {
  return (
    <Field label={label} hint={value === Mask ? "Saved. Type to replace it." : undefined}>
      {(ids) => (
        <Input
          {...ids}
          type="password"
          autoComplete="new-password"
          className="font-mono text-xs"
          value={value ?? ""}
          onFocus={(e) => value === Mask && e.target.select()}
          onChange={(e) => onChange(typed(value, e.target.value))}
        />
      )}
    </Field>
  );
}

/** Typing into a mask replaces it whole; what is left of it would be a wrong value. */
function typed(before: string | undefined, now: string): string {
  return before === Mask ? now.replaceAll("•", "") : now;
}
