import type { Provider, ProviderKind } from "@/api/types";

export const kindNames: Record<ProviderKind, string> = {
  rehearsal: "Rehearsal",
  ollama: "Ollama",
  openai: "OpenAI-compatible",
};

export const kindHints: Record<ProviderKind, string> = {
  rehearsal: "No AI: built in and deterministic. It makes exactly the calls you write.",
  ollama: "Models on this computer or in your network.",
  openai: "Any endpoint that speaks the OpenAI chat API.",
};

export const defaultUrls: Record<ProviderKind, string> = {
  rehearsal: "",
  ollama: "http://127.0.0.1:11434",
  openai: "https://api.openai.com/v1",
};

export interface ModelChoice {
  agentProviderId?: string;
  agentModel?: string;
  providerId: string;
  model: string;
}

/** Which provider and model would answer: the conversation's, else the agent's, else the default. */
export function effective(
  choice: ModelChoice,
  providers: readonly Provider[],
  defaultId: string,
  defaultModel: string,
) {
  const id = choice.providerId || choice.agentProviderId || defaultId;
  const provider = providers.find((p) => p.id === id);
  const own = choice.providerId ? choice.model : choice.model || choice.agentModel;
  const model = own || (id === defaultId ? defaultModel : "") || provider?.defaultModel || "";
  return { provider, model };
}

export function modelLabel(provider: Provider | undefined, model: string): string {
  if (!provider) return "No model";
  if (provider.kind === "rehearsal") return provider.name;
  return model ? model : `${provider.name}, no model chosen`;
}
