import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { announce } from "@/lib/announce";
import { copyText } from "@/lib/clipboard";
import { Button, type ButtonProps, IconButton } from "./ui/button";

interface CopyButtonProps extends Omit<ButtonProps, "children"> {
  text: string;
  label: string;
  /** Shows the label beside the icon. */
  wide?: boolean;
}

export function CopyButton({ text, label, wide, ...rest }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const t = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(t);
  }, [copied]);
  const copy = () => {
    void copyText(text).then((ok) => {
      setCopied(ok);
      announce(ok ? "Copied" : "Copying was not possible");
    });
  };
  const icon = copied ? <Check className="text-success" /> : <Copy />;
  if (wide) {
    return (
      <Button size="sm" variant="ghost" {...rest} onClick={copy}>
        {icon} {copied ? "Copied" : label}
      </Button>
    );
  }
  return (
    <IconButton label={copied ? "Copied" : label} size="icon-sm" {...rest} onClick={copy}>
      {icon}
    </IconButton>
  );
}
