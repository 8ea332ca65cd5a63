export const exitCodes = {
  ok: 0,
  other: 1,
  changesPending: 2,
  recordsRejected: 3,
  held: 4,
  unknown: 5,
  doesNotBalance: 6,
  sourceDown: 7,
  usage: 64,
  ledgerRefused: 65,
  runActive: 75,
  configuration: 78,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** For a person: what happened (`message`), what to do (`cure`). No personal data, no secrets, no stack trace. */
export class Problem extends Error {
  override readonly name = "Problem";
  /** Stable and dotted, such as `config.invalid`. */
  readonly code: string;
  readonly cure: string;
  readonly exitCode: ExitCode;
  /** file:line:column, URL or record id. */
  readonly place: string | undefined;

  constructor(init: {
    code: string;
    message: string;
    cure: string;
    exitCode?: ExitCode;
    place?: string | undefined;
    cause?: unknown;
  }) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    this.cure = init.cure;
    this.exitCode = init.exitCode ?? exitCodes.other;
    this.place = init.place;
  }
}

/** A problem that was thrown; anything else is thrown on. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  throw thrown;
}

export class Problems extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map((problem) => problem.message).join("\n"));
    this.problems = problems;
  }
}

export function usage(message: string, cure: string): Problem {
  return new Problem({ code: "usage", message, cure, exitCode: exitCodes.usage });
}

export function exitCodeOf(failure: unknown): ExitCode {
  if (failure instanceof Problems) return failure.problems[0]?.exitCode ?? exitCodes.other;
  return failure instanceof Problem ? failure.exitCode : exitCodes.other;
}

/** An error, by its cause. `code`: of the waiting records. `reason` has no private values. */
export interface Failure {
  of: "service" | "data" | "program";
  code: string;
  reason: string;
}

/** Throws again what belongs to the ledger or its lock. */
export function failureOf(thrown: unknown): Failure {
  if (!(thrown instanceof Problem)) {
    const name = thrown instanceof Error ? thrown.name : typeof thrown;
    return { of: "program", code: "defect", reason: `a defect in crm-sync itself stopped this work (${name})` };
  }
  const { code, message, cure, exitCode } = thrown;
  if (exitCode === exitCodes.ledgerRefused || exitCode === exitCodes.runActive) throw thrown;
  if (exitCode === exitCodes.sourceDown) return { of: "service", code: unreadable, reason: message };
  return { of: "data", code, reason: `${message}; ${cure}` };
}

export function stackOf(thrown: unknown): string | undefined {
  return thrown instanceof Error ? thrown.stack : undefined;
}

export const unreadable = "service.unreadable";

export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function failed<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
