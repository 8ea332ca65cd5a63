/** Exit codes of the command line, as the operator's scripts see them. */
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

/**
 * Something a person has to know about: what happened, to which record, what it means (`message`), and what to do next
 * (`cure`). Printed without a stack trace. Neither text may hold personal data or a secret.
 */
export class Problem extends Error {
  override readonly name = "Problem";
  /** A stable, dotted word for machines, such as `config.invalid` or `source.missing-file`. */
  readonly code: string;
  readonly cure: string;
  readonly exitCode: ExitCode;
  /** Where it is: file:line:column, URL, record id. */
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

/** Several problems at once, such as all mistakes of a configuration. */
export class Problems extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map((problem) => problem.message).join("\n"));
    this.problems = problems;
  }
}

/** What a person asked for in a way that cannot be understood. */
export function usage(message: string, cure: string): Problem {
  return new Problem({ code: "usage", message, cure, exitCode: exitCodes.usage });
}

/** The exit code of whatever ended a command or a job early. */
export function exitCodeOf(failure: unknown): ExitCode {
  if (failure instanceof Problems) return failure.problems[0]?.exitCode ?? exitCodes.other;
  return failure instanceof Problem ? failure.exitCode : exitCodes.other;
}

/**
 * What was thrown, by whose failure it is: of a service that gave nothing usable, of the data that were worked on, or of
 * this program. `code` is that of the records which wait for it; `reason` holds no private value.
 */
export interface Failure {
  of: "service" | "data" | "program";
  code: string;
  reason: string;
}

/** Whose failure was thrown, by its type. Throws it again where it is of the ledger or its lock, and of nobody else. */
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

/** Where something was thrown, for the log. */
export function stackOf(thrown: unknown): string | undefined {
  return thrown instanceof Error ? thrown.stack : undefined;
}

/** The code of records that wait for a reading which gave nothing. */
export const unreadable = "service.unreadable";

/** The value of a computation that can fail in a way the caller must look at. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function failed<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
