/** The contract's words, for everybody. The calls themselves stay in queries.ts. */
export { CallError, type ErrorPlace } from "./errors";
export type * from "./generated/events";
export type * from "./generated/types";
export { Mask } from "./generated/types";
