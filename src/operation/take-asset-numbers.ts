import { plainKind } from "./kind.ts";
import type { Kind } from "./kind.ts";

/** E9 takes numbers for the pool, which sends it by itself. Numbers whose answer was lost are spent. */
export const takeAssetNumbers: Kind = {
  ...plainKind,
  endpoint: "E9",
  stage: "orders",
  whenUnknown: "lost",
  cureOfPart: undefined,
  prepare: () => ({ code: "payload.not-sendable", reason: "asset numbers are taken by the pool only" }),
  read: () => Promise.resolve({ kind: "not-found", detail: { call: "none: no operation reads it back" } }),
  countAsApplied: () => ({
    code: "settle.by-itself",
    why: "numbers whose answer was lost are spent either way",
    cure: "nothing needs to be decided: the next run records the gap and takes others",
  }),
  lookFor: () => undefined,
};
