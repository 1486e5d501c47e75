import type { ListedServer } from "@/lib/servers";
import { type Condition, condition, lookOf, serverSentence } from "@/lib/status";

/** What a screen reader was last told of a server. */
export interface Told {
  condition: Condition;
  sentence: string;
}

/** More than these at once are summed up. */
const most = 4;

const words = new Intl.ListFormat("en", { type: "unit" });

/** "everything: connected, 13 tools". */
export function newsSentence(server: ListedServer): string {
  const name = server.spec.name;
  const word = lookOf(server).word.toLowerCase();
  switch (condition(server)) {
    case "negotiating": // the same to whoever waits
      return `${name}: starting`;
    case "off":
    case "starting":
    case "installing":
    case "reconnecting":
      return `${name}: ${word}`;
    case "connected":
      if (!server.status.fix) {
        const n = server.status.toolCount;
        return `${name}: ${word}, ${n} ${n === 1 ? "tool" : "tools"}`;
      }
      break;
  }
  return `${name}: ${word}, ${reason(serverSentence(server))}`;
}

/** The first sentence, as the end of another one. */
function reason(text: string): string {
  const first = text.split(/(?<=[.!?…])\s/, 1)[0]?.replace(/\.$/, "") ?? "";
  return /^[A-Z][a-z ]/.test(first) ? first.charAt(0).toLowerCase() + first.slice(1) : first;
}

/**
 * What is new since told, which it brings up to date. Nothing for what goes on by itself:
 * a server that fails again and again is told once.
 */
export function serverNews(servers: readonly ListedServer[], told: Map<string, Told>): string[] {
  const fresh: ListedServer[] = [];
  const out: string[] = [];
  const came = servers.filter((s) => !told.has(s.spec.name));
  for (const s of servers) {
    const before = told.get(s.spec.name);
    const now: Told = { condition: condition(s), sentence: newsSentence(s) };
    const again = before?.condition === "failed" && now.condition === "reconnecting";
    // Two words for one thing to whoever listens; and numbers of a state that goes on are no news.
    const same =
      before?.condition === now.condition && now.condition !== "failed" && now.condition !== "changed";
    if (again || before?.sentence === now.sentence) continue;
    told.set(s.spec.name, now);
    if (!same) fresh.push(s);
  }
  const names = new Set(servers.map((s) => s.spec.name));
  const gone = [...told.keys()].filter((name) => !names.has(name));
  for (const name of gone) {
    told.delete(name);
    // One that goes while another one comes got a new name.
    out.push(
      gone.length === 1 && came.length === 1
        ? `${name}: is called ${came[0]?.spec.name} now`
        : `${name}: removed`,
    );
  }
  if (fresh.length <= most) return [...out, ...fresh.map(newsSentence)];
  const counts = new Map<string, number>();
  for (const s of fresh) {
    const word = lookOf(s).word.toLowerCase();
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...out, `${fresh.length} servers: ${words.format([...counts].map(([word, n]) => `${n} ${word}`))}`];
}
