import { createContext, useContext } from "react";
import type { LinkState } from "@/api/transport";

const LinkContext = createContext<LinkState>("open");

export const LinkProvider = LinkContext.Provider;

export function useLink(): LinkState {
  return useContext(LinkContext);
}
