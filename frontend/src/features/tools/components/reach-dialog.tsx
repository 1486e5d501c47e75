import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";

export interface Reach {
  name: string;
  /** What the tool will be able to do and could not before. */
  news: readonly string[];
  go: () => void;
}

/** Asks before a tool gets more than it had. */
export function ReachDialog({ ask, onClose }: { ask: Reach | undefined; onClose: () => void }) {
  return (
    <Dialog
      open={ask !== undefined}
      onOpenChange={(open) => !open && onClose()}
      title={`Allow ${ask?.name ?? "the tool"} more than before?`}
      description="It will be able to do this, whoever calls it:"
    >
      <ul
        className="mx-4 grid max-h-60 list-disc gap-1 overflow-y-auto pl-5 text-sm"
        data-testid="reach-news"
      >
        {ask?.news.map((n) => (
          <li key={n} className="[overflow-wrap:anywhere]">
            {n}
          </li>
        ))}
      </ul>
      <div className="flex justify-end gap-2 px-4 pt-4 pb-4">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          onClick={() => {
            onClose();
            ask?.go();
          }}
        >
          Allow and save
        </Button>
      </div>
    </Dialog>
  );
}
