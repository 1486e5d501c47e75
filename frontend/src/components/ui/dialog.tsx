import { X } from "lucide-react";
import { Dialog as Primitive } from "radix-ui";
import { type ReactNode, useRef } from "react";
import { cn } from "@/lib/cn";
import { Button, IconButton } from "./button";

interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  children?: ReactNode;
  className?: string;
}

const focusable = "button, input, select, textarea, a[href], [tabindex='0']";

export function Dialog({ open, onOpenChange, title, description, children, className }: DialogProps) {
  const opener = useRef<Element>(null);
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-40 animate-appear bg-ink/30 dark:bg-sunken/70" />
        <Primitive.Content
          aria-describedby={description ? undefined : ""}
          onOpenAutoFocus={(e) => {
            opener.current = document.activeElement;
            // A dialog without controls begins at itself: the tooltip of its Close would take the first Escape.
            const box = e.currentTarget as HTMLElement;
            if (!box.querySelector(`:is(${focusable}):not([data-close])`)) {
              e.preventDefault();
              box.focus();
            }
          }}
          onCloseAutoFocus={(e) => {
            e.preventDefault();
            // Who closed it may have put the focus where things go on.
            if (document.activeElement !== document.body) return;
            const back = opener.current;
            if (back instanceof HTMLElement && back.isConnected) back.focus({ preventScroll: true });
            // What had the focus before may be gone by now, as the bar of an approval is.
            if (document.activeElement === document.body)
              document
                .querySelector<HTMLElement>("section[role=dialog], [data-composer]")
                ?.focus({ preventScroll: true });
          }}
          className={cn(
            "-translate-x-1/2 fixed top-[12vh] left-1/2 z-50 flex max-h-[80vh] w-[min(520px,calc(100vw-32px))] animate-appear flex-col overflow-hidden rounded-lg border border-line bg-surface shadow-float outline-none",
            className,
          )}
        >
          <div className="py-3 pr-12 pb-2 pl-4">
            <Primitive.Title className="font-semibold text-lg [overflow-wrap:anywhere]">
              {title}
            </Primitive.Title>
            {description && (
              <Primitive.Description className="mt-1 text-ink-2 text-sm [overflow-wrap:anywhere]">
                {description}
              </Primitive.Description>
            )}
          </div>
          {children}
          {/* Last, so that a dialog does not begin at its Close, whose tooltip would take the first Escape. */}
          <Primitive.Close asChild>
            <IconButton data-close label="Close" size="icon-sm" className="absolute top-3 right-3">
              <X />
            </IconButton>
          </Primitive.Close>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

interface ConfirmProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description: ReactNode;
  action: string;
  onConfirm: () => void;
}

export function ConfirmDialog({ open, onOpenChange, title, description, action, onConfirm }: ConfirmProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={title} description={description}>
      <div className="flex justify-end gap-2 px-4 pt-2 pb-4">
        <Button onClick={() => onOpenChange(false)}>Cancel</Button>
        <Button
          variant="danger"
          onClick={() => {
            onOpenChange(false);
            onConfirm();
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
