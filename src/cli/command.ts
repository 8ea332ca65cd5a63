import type { Face } from "../app/application.ts";
import type { Application } from "../operate/application.ts";
import type { StartWeb } from "../operate/health.ts";
import type { Clock } from "../base/clock.ts";
import type { Host } from "../base/host.ts";
import type { Randomness } from "../base/ids.ts";
import type { ConfigChoice, Needs } from "../app/open-config.ts";
import type { Environment } from "../config/load.ts";
import { type ExitCode, exitCodes } from "../base/errors.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import { pausedText, type Paused } from "../report/status.ts";
import type { View } from "../report/text.ts";
import { toJson } from "../base/canonical-json.ts";
import { type Heading, type Output, describeProblem, problemJson, reportFailure, viewOf } from "./output.ts";

interface GlobalOptions extends ConfigChoice {
  json: boolean;
}

export interface Invocation {
  options: GlobalOptions;
  environment: Environment;
  output: Output;
  signal: AbortSignal;
  startWeb: StartWeb;
  clock?: Clock | undefined;
  random?: Randomness | undefined;
  host?: Host | undefined;
}

interface Answer {
  json: unknown;
  text: string | ((view: View) => string | Promise<string>);
  exit?: ExitCode;
}

type Work = (application: Application) => Promise<ExitCode | Answer>;

/** Opens the application, does the work, prints its answer, closes. Any error is printed and becomes the exit code. */
export async function withApplication(
  invocation: Omit<Invocation, "signal" | "startWeb">,
  work: Work,
  needs: Needs = { services: true },
): Promise<ExitCode> {
  const { options, environment, output, clock, random, host } = invocation;
  let application: Application | undefined;
  output.begins();
  try {
    const { openApplication } = await import("../app/application.ts");
    application = await openApplication(
      options,
      environment,
      { ...(await faceOf(output)), clock, random, host },
      needs,
    );
    const opened = application;
    output.heading(() => headingOf(output, opened));
    return await answered(invocation, opened, work);
  } catch (error) {
    return reportFailure(output, error, options.json, application?.config.zone);
  } finally {
    output.settle();
    output.heading(() => undefined);
    await application?.close();
  }
}

async function answered(
  { options, output }: Pick<Invocation, "options" | "output">,
  application: Application,
  work: Work,
): Promise<ExitCode> {
  const answer = await work(application);
  if (typeof answer === "number") return answer;
  const { json, text, exit = ok } = answer;
  if (options.json) {
    output.json(toJson(json));
    return exit;
  }
  const lines = typeof text === "string" ? text : await text(viewOf(output, application.config.zone));
  if (lines !== "") output.line(lines);
  return exit;
}

/** Every output says so if no run may use the ledger, or during a pause. */
function headingOf(output: Output, application: Application): Heading | undefined {
  const { refusal } = application;
  const paused = pausedNow(application);
  const view = viewOf(output, application.config.zone);
  const lines = [
    ...(paused === undefined ? [] : [pausedText(paused, view)]),
    ...(refusal === undefined ? [] : [output.suggested(describeProblem(refusal, view.zone))]),
  ];
  if (lines.length === 0) return undefined;
  const members = {
    ...(refusal === undefined ? {} : { refused: problemJson(refusal) }),
    ...(paused === undefined ? {} : { paused: { ...paused } }),
  };
  return { line: lines.join("\n"), members };
}

/** An unreadable ledger says nothing about a pause. The reason is shown elsewhere. */
function pausedNow(application: Application): Paused | undefined {
  try {
    return application.paused();
  } catch {
    return undefined;
  }
}

async function faceOf(output: Output): Promise<Face> {
  const progress: Face["progress"] = (phase, done, total) => output.progress(phase, done, total);
  const { suggested } = output;
  if (!output.interactive) return { log: undefined, wholeLog: output.log, progress, suggested };
  const { terminalLog } = await import("./terminal-log.ts");
  return { log: (zone) => terminalLog((text) => output.note(text), zone), progress, suggested };
}

/** For a command that needs only the ledger, and no service. */
export async function withLedger(invocation: Invocation, work: Work): Promise<ExitCode> {
  return await withApplication(invocation, work, { services: false });
}

/** For commands that only read: no secret, no right to write. Output about a refused ledger is not a success. */
export async function withReader(invocation: Invocation, work: Work): Promise<ExitCode> {
  const reads = async (application: Application): Promise<ExitCode> => {
    const exit = await answered(invocation, application, work);
    return exit === exitCodes.ok ? (application.refusal?.exitCode ?? exit) : exit;
  };
  return await withApplication(invocation, reads, { services: false, secrets: false });
}

export function readingOf<A>(application: A, inquiry: Inquiry) {
  return { application, read: async <T>(question: (of: Inquiry) => Promise<T>): Promise<T> => await question(inquiry) };
}

export const ok: ExitCode = exitCodes.ok;
