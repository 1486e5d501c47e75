import { Component, type ReactNode } from "react";
import { Callout } from "@/components/ui/callout";

interface FormBoundaryProps {
  /** A new value tries again. */
  of: unknown;
  children: ReactNode;
}

/** Keeps a schema that no form can be made of from taking the page with it. */
export class FormBoundary extends Component<FormBoundaryProps, { error?: unknown; of?: unknown }> {
  override state: { error?: unknown; of?: unknown } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  static getDerivedStateFromProps(props: FormBoundaryProps, state: { error?: unknown; of?: unknown }) {
    return props.of === state.of ? null : { of: props.of, error: undefined };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Callout tone="warning" title="No form can be made of this schema.">
        {error instanceof Error ? `${error.message.replace(/\.$/, "")}. ` : ""}Write the arguments as JSON.
      </Callout>
    );
  }
}
