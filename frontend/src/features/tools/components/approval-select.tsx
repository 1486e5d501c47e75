import { Ban, Check, ChevronDown, FileDiff, Hand, Scale } from "lucide-react";
import { useState } from "react";
import type { ApprovalChoice, Effect, ToolView } from "@/api/types";
import { Button } from "@/components/ui/button";
import {
  Menu,
  MenuContent,
  MenuItem,
  MenuLabel,
  MenuRadioGroup,
  MenuRadioItem,
  MenuSeparator,
  MenuTrigger,
  useAfterMenu,
} from "@/components/ui/menu";
import { cn } from "@/lib/cn";
import { useChoose, useChooseAbove } from "../hooks/use-choose";
import { ApprovalReview } from "./approval-review";

const choices = {
  ask: { word: "Ask", says: "Ask: each call waits for you", Icon: Hand },
  allow: { word: "Allow", says: "Allow: runs without asking, as it is now", Icon: Check },
  block: { word: "Block", says: "Block: nobody calls it, agents do not see it", Icon: Ban },
} as const;
const order = ["ask", "allow", "block"] as const;

const ruled: Record<Effect, string> = { allow: "Runs freely", ask: "Asks first", deny: "Refused" };

/** The radio group must tell "no choice" from "no value". */
const inherit = "inherit";

/** The approval of one tool: what the rules say in grey, or what a person chose. Below an ApprovalProvider. */
export function ApprovalSelect({ view }: { view: ToolView }) {
  const choose = useChooseAbove();
  const [reviewing, setReviewing] = useState(false);
  const menu = useAfterMenu();
  const { choice, changed } = view.approval;
  const name = view.tool.ref.name;
  const shown = choice && !changed ? choices[choice] : undefined;
  const Icon = shown?.Icon ?? Scale;
  return (
    <span className="flex shrink-0 items-center gap-1">
      {changed && (
        <Button
          size="sm"
          className="text-warning"
          aria-label={`Changed: review ${name}`}
          onClick={() => setReviewing(true)}
        >
          <FileDiff /> Changed: review
        </Button>
      )}
      <Menu>
        <MenuTrigger asChild>
          <Button
            size="sm"
            variant={shown ? "secondary" : "ghost"}
            className={cn("w-32 justify-start", !shown && "text-ink-3")}
            aria-label={`Approval of ${name}: ${shown ? shown.word : `${ruled[view.inherited.effect]}, by the rules`}`}
          >
            <Icon className={choice === "block" ? "text-danger" : undefined} />
            <span className="min-w-0 flex-1 truncate text-left">
              {shown ? shown.word : ruled[view.inherited.effect]}
            </span>
            <ChevronDown className="text-ink-3" />
          </Button>
        </MenuTrigger>
        <MenuContent align="end" onCloseAutoFocus={menu.onCloseAutoFocus}>
          <MenuLabel className="font-mono">{name}</MenuLabel>
          <MenuRadioGroup
            value={choice || inherit}
            onValueChange={(v) =>
              menu.later(() => choose([view], v === inherit ? "" : (v as ApprovalChoice)))
            }
          >
            <MenuRadioItem value={inherit}>
              By the rules: {ruled[view.inherited.effect].toLowerCase()}
            </MenuRadioItem>
            {order.map((c) => (
              <MenuRadioItem key={c} value={c}>
                {choices[c].says}
              </MenuRadioItem>
            ))}
          </MenuRadioGroup>
          {changed && (
            <>
              <MenuSeparator />
              <MenuItem onSelect={() => menu.later(() => setReviewing(true))}>
                <FileDiff /> Review what changed…
              </MenuItem>
            </>
          )}
        </MenuContent>
      </Menu>
      {reviewing && (
        <ApprovalReview
          view={view}
          onClose={() => setReviewing(false)}
          onChoose={(c) => {
            setReviewing(false);
            choose([view], c);
          }}
        />
      )}
    </span>
  );
}

/** One choice for all tools that are shown. */
export function ApprovalBulk({ tools, which }: { tools: readonly ToolView[]; which: string }) {
  const { choose, dialog } = useChoose();
  const menu = useAfterMenu();
  if (tools.length < 2) return null;
  return (
    <>
      <Menu>
        <MenuTrigger asChild>
          <Button size="sm">
            Approval of {which} <ChevronDown />
          </Button>
        </MenuTrigger>
        <MenuContent align="end" onCloseAutoFocus={menu.onCloseAutoFocus}>
          <MenuItem onSelect={() => menu.later(() => choose(tools, ""))}>
            <Scale /> By the rules
          </MenuItem>
          {order.map((c) => {
            const { Icon, says } = choices[c];
            return (
              <MenuItem key={c} onSelect={() => menu.later(() => choose(tools, c))}>
                <Icon /> {says}
              </MenuItem>
            );
          })}
        </MenuContent>
      </Menu>
      {dialog}
    </>
  );
}
