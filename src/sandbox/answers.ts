import { z } from "zod";

/** The body of an answer (R3, R4). E4 has no `data`. */
export interface Answer {
  code: 0 | string;
  message: string;
  cause?: string;
  data?: unknown;
  status?: number;
}

/** {0} and {1} are placeholders of numbers (R6). */
const messages = {
  "401": "unauthorized",
  "404": "no such operation",
  "500": "network error, retry",
  "13004": "parameter validation failed",
  "60000": "application token invalid, expired or without permission for the resource",
  "60005": "user login token invalid or expired",
  "70001": "security check failed",
  "80001": "user-center exception",
  "40000": "parameter empty",
  "60002": "user not found",
  "40021": "staff list empty",
  "60013": "upload count exceeds the maximum of 100",
  "40008": "account empty",
  "40001": "password empty",
  "40009": "group identifier empty",
  "40022": "name empty",
  "50003": "password length must be between {0} and {1}",
  "30002": "name too long",
  "30003": "note too long",
  "10003": "account may contain only letters and digits",
  "10004": "a valid mobile number is required",
  "40006": "enterprise suffix empty",
  "60009": "the enterprise account allows at most {0} trial member accounts",
  "60027": "some staff were not added",
  "60017": "current account is not bound to an authorization customer",
  "60024": "asset number not found",
  "60023": "the sub-account matched several staff members",
  "60025": "asset number belongs to the wrong customer",
  "60026": "the sub-account matched no staff member",
  "60028": "asset number configured twice",
  "33006": "not enough nodes",
  "33003": "staff member has insufficient rights",
  "33007": "already lent to another borrowed lock",
  "33008": "borrowed-lock state abnormal",
  "33018": "borrowed lock already lent to another staff member",
  "33009": "borrow request failed",
} as const;

export type ErrorCode = keyof typeof messages;

/** Thrown to reject a call; the call has no effect. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: ErrorCode;
  readonly reason: string;
  readonly numbers: readonly number[];

  constructor(code: ErrorCode, reason: string, numbers: readonly number[] = []) {
    super(`${code} ${reason}`);
    this.code = code;
    this.reason = reason;
    this.numbers = numbers;
  }
}

export function success(data: unknown): Answer {
  return { code: 0, message: "success", data };
}

export function acknowledged(): Answer {
  return { code: 0, message: "success" };
}

/** `numbers` fill {0} and {1}. The message of 13004 names the wrong parameter. */
export function failure(code: string, reason: string, numbers: readonly number[] = []): Answer {
  const known = isErrorCode(code) ? messages[code] : "unexpected error";
  const filled = numbers.reduce((text, number, index) => text.replace(`{${index}}`, String(number)), known as string);
  return { code, message: code === "13004" ? reason : filled, cause: reason };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(messages, code);
}

export const requiredText = z.string().min(1);
export const integer = z.int32();
export const time = z.union([z.int(), z.string().min(1)], { error: "a whole number or a text is expected" });

export function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Refusal("13004", issue === undefined ? "body is invalid" : `${fieldOf(issue.path)}: ${issue.message}`);
}

function fieldOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "body";
  return path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`))
    .join("");
}

declare global {
  interface JSON {
    /** ECMAScript proposal: JSON.parse source text access. */
    rawJSON(text: string): object;
  }
}

/** The first two digits show the kind, so that a mixed-up identifier is noticed. */
const prefixes = {
  enterprise: "61",
  customer: "62",
  member: "63",
  licenseOrder: "64",
  asset: "65",
  product: "66",
  merchandise: "67",
  staffRecord: "68",
  user: "69",
} as const;

export type IdentifierKind = keyof typeof prefixes;

/** 19 digits, above 2^53 and below 2^63: a reader that uses JavaScript numbers loses digits. */
export function identifierOf(kind: IdentifierKind, row: number): string {
  return prefixes[kind] + String(row).padStart(17, "0");
}

export function rowOf(kind: IdentifierKind, identifier: string): number | undefined {
  if (!/^\d{19}$/.test(identifier) || !identifier.startsWith(prefixes[kind])) return undefined;
  return Number(identifier.slice(2));
}

export function numberOf(digits: string): object {
  return JSON.rawJSON(digits);
}
