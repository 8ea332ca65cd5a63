import {
  counted,
  plainView,
  printable,
  withInstantsToWrite,
  withLocalInstants,
  numberText,
  type View,
} from "../report/text.ts";
import type { Suggested } from "../operate/application.ts";
import type { ConfigChoice } from "../app/open-config.ts";
import type { Environment } from "../config/load.ts";
import { isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";
import { exitCodes, messageOf, Problem, Problems, type ExitCode } from "../base/errors.ts";

/** Results go to stdout, everything else to stderr. */
export interface Output {
  readonly stdout: Stream;
  readonly stderr: Stream;
  /** The log if nobody watches; undefined: the stderr of the process. */
  readonly log: Log | undefined;
  /** A line before the first result, and members of each JSON object, if any. Called for each result. */
  heading(of: () => Heading | undefined): void;
  suggests(complete: Suggested): void;
  suggested: Suggested;
  line(text: string): void;
  json(value: Json): void;
  /** The single JSON result, printed at the end. The last one counts; a failure replaces it. */
  result(value: Json): void;
  end(): void;
  note(text: string): void;
  begins(): void;
  progress(phase: string, done: number, total: number | undefined): void;
  settle(): void;
  /** Resolves when everything printed has left for stdout; rejects with a Problem if nobody reads it. */
  written(): Promise<void>;
  readonly columns: number;
  readonly colours: boolean;
  readonly trace: boolean;
  readonly interactive: boolean;
}

export interface Heading {
  line: string;
  members: JsonObject;
}

interface Log {
  write(line: string): void;
}

interface Stream {
  write(text: string | Buffer, done?: (error?: Error | null) => void): boolean;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
}

export function createOutput(
  stdout: Stream,
  stderr: Stream,
  monotonic: () => number,
  { trace = false, log, environment = {} }: { trace?: boolean; log?: Log; environment?: Environment } = {},
): Output {
  let result: Json | undefined;
  let headingOf: () => Heading | undefined = () => undefined;
  let isHeaded = false;
  let suggested: Suggested = (text) => text;
  const line = new ProgressLine(stderr, monotonic);
  const headed = (value: Json): Json => (isJsonObject(value) ? { ...value, ...headingOf()?.members } : value);
  const print = (value: Json): void => {
    line.rest();
    stdout.write(`${jsonWithSuggestions(value, suggested)}\n`);
  };
  return {
    stdout,
    stderr,
    log,
    columns: stdout.isTTY === true ? (stdout.columns ?? 0) : 0,
    colours: stdout.isTTY === true && (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb",
    trace,
    interactive: stderr.isTTY === true,
    heading(of) {
      headingOf = of;
    },
    suggests(complete) {
      suggested = complete;
    },
    suggested: (text, written) => suggested(text, written),
    line(text) {
      line.rest();
      const heading = isHeaded ? undefined : headingOf();
      isHeaded = true;
      stdout.write(`${heading === undefined ? "" : `${heading.line}\n`}${suggested(text)}\n`);
    },
    json: (value) => print(headed(value)),
    result(value) {
      result = headed(value);
    },
    end() {
      if (result !== undefined) print(result);
      result = undefined;
    },
    note(text) {
      line.clear();
      stderr.write(`${suggested(text)}\n`);
    },
    begins: () => line.begin(),
    progress: (phase, done, total) => line.told(phase, done, total),
    settle: () => line.end(),
    written: () =>
      new Promise((resolve, reject) => {
        stdout.write("", (error) => (error === undefined || error === null ? resolve() : reject(nobodyReads(error))));
      }),
  };
}

/** Something that can be handed out only once was not handed out. */
function nobodyReads(cause: Error): Problem {
  return new Problem({
    code: "output.closed",
    message: `the output was closed, so the value was not handed out: ${cause.message}`,
    cure: "run the command again with an output that stays open; the value is still available",
    cause,
  });
}

export function viewOf(output: Output, zone: string): View {
  const { columns, colours } = output;
  const suggested = (text: string): string => output.suggested(text);
  const terminal = columns > 0;
  return { terminal, ...(terminal && { width: columns }), zone, suggested, colours };
}

/** Foreign text in lines, safe for a terminal. */
export function safeLines(text: string): string {
  return text
    .split("\n")
    .map((line) => /^ */.exec(line)?.[0] + printable(line.trimStart()))
    .join("\n");
}

/** Place, message and next step of a problem, with times in a zone; the place stays unchanged. */
export function describeProblem(problem: Problem, zone = plainView.zone): string {
  const given = printable(problem.place ?? "");
  const place = problem.place === undefined || problem.message.includes(problem.place) ? "" : `${problem.place}: `;
  const message = withLocalInstants(printable(`${place}${problem.message}`), { zone }, given);
  return `${message}\n  → ${withInstantsToWrite(printable(problem.cure), { zone }, given)}`;
}

export function problemJson(problem: Problem): Json {
  return {
    code: problem.code,
    message: problem.message,
    cure: problem.cure,
    place: problem.place ?? null,
    exit: problem.exitCode,
  };
}

/** A system error about a named file as a Problem; otherwise undefined. */
function fileProblem(thrown: unknown): Problem | undefined {
  if (!(thrown instanceof Error) || !("syscall" in thrown) || !("path" in thrown)) return undefined;
  const { path } = thrown;
  if (typeof path !== "string") return undefined;
  return new Problem({
    code: "file.refused",
    message: `${path} cannot be used: ${thrown.message}`,
    cure: "check that the folder exists, that the disk has room, and that this user may read and write there",
    place: path,
    cause: thrown,
  });
}

/** Prints the error that ended a command and returns its exit code. Defects are named as such. */
export function reportFailure(output: Output, failure: unknown, json: boolean, zone?: string): ExitCode {
  const thrown = fileProblem(failure) ?? failure;
  const problems = thrown instanceof Problems ? thrown.problems : thrown instanceof Problem ? [thrown] : [];
  const [first] = problems;
  if (first === undefined) {
    const text = messageOf(thrown);
    if (json) output.result({ error: { code: "defect", message: text } });
    output.note(
      `crm-sync failed: ${printable(text)}\n  → this is a defect of the ` +
        "program; run again with CRM_SYNC_TRACE=1 and report the output",
    );
    if (output.trace && thrown instanceof Error) output.note(thrown.stack ?? "");
    return exitCodes.other;
  }
  if (json) output.result({ error: problemJson(first), problems: problems.map(problemJson) });
  for (const problem of problems) output.note(describeProblem(problem, zone));
  return first.exitCode;
}

/** Where a plan was saved, and how to apply it. `held`: operations that need approval. */
export function savedText(path: string, operations: number, held: number): string {
  if (operations === 0) return `saved as ${path}; it holds nothing that could be carried out`;
  const waits = held === 0 ? "" : `, except ${counted(held, "operation")} that must be approved first`;
  return `saved as ${path}; \`crm-sync apply ${path}\` carries out exactly this${waits}`;
}

interface Terminal {
  write(text: string): boolean;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
}

const smallestPauseMs = 80;
const tickMs = 1_000;

interface Phase {
  name: string;
  begunAt: number;
  done: number;
  total: number | undefined;
}

/** Progress of long work, drawn at least each second, so that nobody thinks it hangs. Silent without a terminal. */
export class ProgressLine {
  readonly #stderr: Terminal;
  readonly #monotonic: () => number;
  readonly #isLive: boolean;
  #phase: Phase | undefined;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isShown = false;
  #ticking: NodeJS.Timeout | undefined;

  constructor(stderr: Terminal, monotonic: () => number) {
    this.#stderr = stderr;
    this.#monotonic = monotonic;
    this.#isLive = stderr.isTTY === true && (stderr.columns ?? 0) > 0;
  }

  begin(): void {
    if (!this.#isLive || this.#ticking !== undefined) return;
    this.#phase = this.#begun("working", 0, undefined);
    this.#ticking = setInterval(() => this.tick(), tickMs);
    this.#ticking.unref();
  }

  told(name: string, done: number, total: number | undefined): void {
    if (!this.#isLive) return;
    const phase = this.#phase?.name === name ? this.#phase : this.#begun(name, done, total);
    this.#phase = { ...phase, done, total: total === undefined || total < done ? undefined : total };
    if (this.#monotonic() - this.#drawnAt >= smallestPauseMs) this.#draw(this.#phase);
  }

  tick(): void {
    const phase = this.#phase;
    if (phase === undefined || this.#monotonic() - this.#drawnAt < tickMs) return;
    this.#draw(phase);
  }

  /** Removes the line, so that other output does not follow it on the same line. */
  clear(): void {
    if (!this.#isShown) return;
    this.#stderr.write("\r\u001b[2K");
    this.#isShown = false;
  }

  rest(): void {
    this.clear();
    this.#phase = undefined;
  }

  end(): void {
    this.rest();
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #begun(name: string, done: number, total: number | undefined): Phase {
    return { name, begunAt: this.#monotonic(), done, total };
  }

  #draw(phase: Phase): void {
    this.#drawnAt = this.#monotonic();
    const text = `\r\u001b[2K${progressText(phase, this.#drawnAt)}`;
    this.#stderr.write(text.slice(0, (this.#stderr.columns ?? 80) + 5));
    this.#isShown = true;
  }
}

function progressText({ name, begunAt, done, total }: Phase, now: number): string {
  const seconds = Math.floor((now - begunAt) / 1_000);
  const amount = total === undefined ? numberText(done) : `${numberText(done)} of ${numberText(total)}`;
  const counts = done === 0 && total === undefined ? "" : `: ${amount}`;
  return `${name}${counts}${seconds < 1 ? "" : ` (${numberText(seconds)}s)`}`;
}

const suggesting: ReadonlySet<string> = new Set(["cure", "next"]);

/**
 * Adds this command line's options to suggested commands, so that they can be copied. Complete commands stay unchanged.
 * `written`: how a page writes the options.
 */
export function suggestedWith({ config, sandbox }: Partial<ConfigChoice>, commands: readonly string[]): Suggested {
  const options = [
    ...(config === undefined ? [] : [`--config ${typed(config)}`]),
    ...(sandbox === undefined ? [] : [sandbox === true ? "--sandbox" : `--sandbox=${typed(sandbox)}`]),
  ];
  if (options.length === 0) return (text) => text;
  const command = new RegExp(
    String.raw`\bcrm-sync (?=(?:${commands.map((name) => RegExp.escape(name)).join("|")})\b)`,
    "gu",
  );
  return (text, written = (plain) => plain) =>
    text.replaceAll(command, () => `crm-sync ${written(options.join(" "))} `);
}

/** Completes only members that suggest commands. */
export function jsonWithSuggestions(value: Json, complete: (text: string) => string): string {
  const completed = (item: unknown): unknown => (typeof item === "string" ? complete(item) : item);
  return JSON.stringify(value, (key, item: unknown) => {
    if (!suggesting.has(key)) return item;
    return Array.isArray(item) ? item.map(completed) : completed(item);
  });
}

export function typed(word: string): string {
  return /^[\w./:@%+=,-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
