import { z } from "zod";
import { endpointIds, isEndpointId, routes, type EndpointId } from "./endpoints.ts";

/** Whether the call is applied first. The rule's `applied` overrides this. */
const faultKinds = {
  refused: { applied: false },
  resetBefore: { applied: false },
  appliedNoReply: { applied: true },
  /** No reply ever; applied after `delayMs`, even if the sandbox is killed. */
  appliedLate: { applied: false },
  resetMidReply: { applied: true },
  silence: { applied: false },
  slow: { applied: true },
  code500: { applied: false },
  /** Business error `code` with HTTP `status` (299). */
  status299: { applied: false },
  http502: { applied: false },
  http503: { applied: false },
  http429: { applied: false },
  /** HTTP 200 with truncated JSON and a matching Content-Length. */
  wrongJson: { applied: true },
  /** HTTP 200 with the key `code` twice: first the true value, then the opposite. */
  codeTwice: { applied: true },
  oddCode: { applied: false },
  wrongShape: { applied: true },
  /** HTTP 401, 60000, or `code`. */
  expiredToken: { applied: false },
  /** E3, M5, M6: `drop` rows are missing at the end or start. `shrinkTotal`: M5's total matches. */
  shortPage: { applied: true },
  /** Code 0 with `value` in `field`, everywhere or only at `row`. */
  oddField: { applied: true },
  /** Code 0 with `value` as data, or without data. */
  oddData: { applied: true },
  emptyPromise: { applied: false },
  partialM1: { applied: true },
  e5MissingSequence: { applied: true },
  e5DuplicateSequence: { applied: true },
  /** One byte of the body every `delayMs` (1000). */
  oneBytePerSecond: { applied: true },
  hugeBody: { applied: true },
} as const satisfies Record<string, { applied: boolean }>;

type FaultKind = keyof typeof faultKinds;

const targets = [...endpointIds, "*", "reads", "writes", "order", "member", "token"] as const;

export const faultRuleSchema = z.strictObject({
  operation: z.enum(targets),
  fault: z.enum(Object.keys(faultKinds).filter((kind) => isFaultKind(kind))),
  about: z.string().optional().describe("only calls that hold this value in their path or query; all when left out"),
  probability: z.number().min(0).max(1).default(1).describe("share of the matching calls"),
  nth: z
    .union([z.int().min(1), z.array(z.int().min(1)).min(1)])
    .optional()
    .describe("which of the matching calls, counted from 1 since the rule was added; all when left out"),
  times: z.int().min(1).optional().describe("how often at most; without end when left out"),
  delayMs: z.int().min(0).default(1000).describe("slow, appliedLate, oneBytePerSecond: milliseconds"),
  applied: z.boolean().optional().describe("whether the call is applied before it fails"),
  code: z.string().min(1).optional().describe("status299, oddCode, expiredToken: the business code"),
  words: z.string().min(1).optional().describe("status299, oddCode, partialM1: the words of the service"),
  status: z.int().min(200).max(599).optional().describe("status299, oddCode: the HTTP status"),
  retryAfter: z.string().min(1).default("1").describe("http503, http429: seconds or an HTTP date"),
  drop: z.int().min(1).default(1).describe("shortPage, partialM1: how many rows or entries"),
  dropFrom: z.enum(["end", "start"]).default("end").describe("shortPage: which rows are missing"),
  field: z.string().min(1).optional().describe("oddField: the field's name"),
  row: z.int().min(1).optional().describe("oddField: which place that holds it, counted from 1; all when left out"),
  value: z.unknown().optional().describe("oddField, oddData: the value, any JSON"),
  shrinkTotal: z.boolean().default(false).describe("shortPage: whether M5's total agrees with the rows"),
  bytes: z.int().min(1).default(100_000_000).describe("hugeBody: size of the body"),
});

export type FaultRule = z.input<typeof faultRuleSchema>;
export type Fault = z.infer<typeof faultRuleSchema>;

export interface Faults {
  /** Returns the id. Throws ZodError for an invalid rule. */
  add(rule: FaultRule): string;
  list(): { id: string; rule: Fault; matched: number; fired: number }[];
  clear(id?: string): void;
}

interface DecidingFaults extends Faults {
  decide(target: EndpointId | "token", values?: readonly string[]): Fault | undefined;
}

interface Entry {
  id: string;
  rule: Fault;
  matched: number;
  fired: number;
}

export function createFaults(fraction: () => number): DecidingFaults {
  let entries: Entry[] = [];
  let added = 0;

  return {
    add(rule) {
      added += 1;
      const id = `fault-${added}`;
      entries.push({ id, rule: faultRuleSchema.parse(rule), matched: 0, fired: 0 });
      return id;
    },
    list: () => entries.map((entry) => ({ ...entry })),
    clear(id) {
      entries = id === undefined ? [] : entries.filter((entry) => entry.id !== id);
    },
    decide(target, values = []) {
      let decided: Fault | undefined;
      for (const entry of entries) {
        const { about } = entry.rule;
        if (!matches(entry.rule, target) || (about !== undefined && !values.includes(about))) continue;
        entry.matched += 1;
        if (decided !== undefined || !fires(entry, fraction)) continue;
        entry.fired += 1;
        decided = entry.rule;
      }
      return decided;
    },
  };
}

export function appliesCall(fault: Fault): boolean {
  return fault.applied ?? faultKinds[fault.fault].applied;
}

function isFaultKind(text: string): text is FaultKind {
  return Object.hasOwn(faultKinds, text);
}

function fires({ rule, matched, fired }: Entry, fraction: () => number): boolean {
  if (rule.times !== undefined && fired >= rule.times) return false;
  if (rule.nth !== undefined && ![rule.nth].flat().includes(matched)) return false;
  return rule.probability === 1 || fraction() < rule.probability;
}

function matches(rule: Fault, target: EndpointId | "token"): boolean {
  if (target === "token" || rule.operation === "token") return rule.operation === target;
  if (!fits(rule.fault, target)) return false;
  if (isEndpointId(rule.operation)) return rule.operation === target;
  const route = routes[target];
  if (rule.operation === "reads") return !route.writes;
  if (rule.operation === "writes") return route.writes;
  return rule.operation === "*" || rule.operation === route.service;
}

function fits(kind: FaultKind, operation: EndpointId): boolean {
  if (kind === "shortPage") return operation === "E3" || operation === "M5" || operation === "M6";
  if (kind === "partialM1") return operation === "M1";
  if (kind === "e5MissingSequence" || kind === "e5DuplicateSequence") return operation === "E5";
  return true;
}

/** Mulberry32: the same numbers for the same seed. */
export function seededFraction(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface SandboxCounts {
  /** By operation (and `token`), since start or reset, with any outcome. */
  calls: Record<string, number>;
  writingCalls: number;
  /** Applied calls by operation, kept with the state. Late calls count when applied. */
  effects: Record<string, number>;
  faulted: number;
}

export interface CallCounts {
  faultFor: (target: EndpointId | "token", values?: readonly string[]) => Fault | undefined;
  counts: () => SandboxCounts;
  clear: () => void;
}

export function createCallCounts(faults: DecidingFaults, effects: () => SandboxCounts["effects"]): CallCounts {
  const calls = new Map<EndpointId | "token", number>();
  let faulted = 0;
  return {
    faultFor(target, values = []) {
      calls.set(target, (calls.get(target) ?? 0) + 1);
      const fault = faults.decide(target, values);
      if (fault !== undefined) faulted += 1;
      return fault;
    },
    counts() {
      let writingCalls = 0;
      for (const [id, count] of calls) if (id !== "token" && routes[id].writes) writingCalls += count;
      return { calls: Object.fromEntries(calls), writingCalls, effects: effects(), faulted };
    },
    clear() {
      calls.clear();
      faulted = 0;
    },
  };
}
