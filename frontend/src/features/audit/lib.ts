import type { AuditRecord } from "@/api/types";

export const principalNames: Record<AuditRecord["principal"]["kind"], string> = {
  window: "You",
  agent: "Agent",
  cli: "Command line",
  rest: "REST client",
  gateway: "Gateway client",
  server: "Server",
};

export const answerNames = {
  allow_once: "Allowed once by you",
  allow_chat: "Allowed for the conversation by you",
  deny: "Denied by you",
  expired: "Nobody answered in time",
} as const;

export const effectNames = { allow: "Allowed", ask: "Asked", deny: "Denied" } as const;
