import { useTools } from "@/features/tools";
import { isRecord } from "@/lib/json";
import { useCurrentChat } from "./use-current-chat";

/** First messages that will work with what is connected now. */
export function useExamples(): string[] {
  const tools = (useTools().data ?? []).filter((t) => t.available);
  const { provider } = useCurrentChat();
  if (provider?.kind === "rehearsal") {
    const simple = tools.filter((t) => {
      const s = t.tool.inputSchema;
      return !isRecord(s) || !Array.isArray(s.required) || s.required.length === 0;
    });
    const time = simple.find((t) => t.tool.ref.name === "current_time");
    const list = [...(time ? [time] : []), ...simple.filter((t) => t !== time)].slice(0, 3);
    return list.map((t) => `/call ${t.alias} {}`);
  }
  return tools.length > 0 ? ["What can you do with the tools you have?"] : ["What can you help me with?"];
}
