import { existsSync } from "node:fs";
import { dirname, relative } from "node:path";
import { parseDocument } from "yaml";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
import { systemRandomness } from "../../base/ids.ts";
import type { Environment } from "../../config/environment.ts";
import { proposalText, sealKeyVariable } from "../proposal-text.ts";
import type { Proposal } from "../init-from.ts";
import { askForLists, confirmFields } from "./lists.ts";
import { cancelled, confirms } from "./person.ts";
import type { Person } from "./person.ts";
import { askForAlerts, askForAssumptions, askForServices } from "./services.ts";
import { TypedSecrets } from "./typed-secrets.ts";
import { writeFiles } from "./write-files.ts";

/** What the first hour came to. */
export interface GuidedInit {
  path: string;
  secrets: readonly string[];
  sandbox: boolean;
  streams: readonly { source: string; stream: string; from: readonly string[] }[];
  /** Id of a customer of the list, for a first plan. */
  customer: string | undefined;
}

/**
 * Asks a person for all that a configuration needs, and writes it when everything was answered: before that nothing is
 * written, so that leaving at any question leaves nothing. A file that is there is replaced only where the person says
 * so.
 */
export async function guidedInit(
  person: Person,
  { path, environment, signal }: { path: string; environment: Environment; signal: AbortSignal },
): Promise<GuidedInit> {
  const replaces = await mayBeWritten(person, path);
  const folder = dirname(path);
  const secrets = new TypedSecrets(folder, environment);
  const zone = await person.ask({
    id: "zone",
    text: "Time zone of schedules, months and dates",
    usual: Temporal.Now.timeZoneId(),
    refusal: zoneRefusal,
  });
  const listed = await askForLists({ person, secrets, folder, zone, signal });
  const proposal = await confirmFields(person, listed);
  const place = await person.ask({
    id: "services",
    text: "Which services does it work with first?",
    usual: "sandbox",
    choices: [
      { word: "sandbox", means: "both services inside the program: nothing real is touched" },
      { word: "production", means: "the real ones" },
    ],
  });
  const settings: Record<string, unknown> = {};
  if (place === "production") {
    Object.assign(settings, await askForServices(person, secrets));
    settings["assumptions"] = await askForAssumptions(person);
  }
  settings["notify"] = await askForAlerts(person, secrets);
  const sealKey = proposal.streams.some(({ stream }) => stream === "staff")
    ? await askForSealKey(person, secrets)
    : undefined;
  const customer = await askForCustomer(person, proposal);
  const files = [path, ...secrets.files.keys()];
  if (!(await confirms(person, "write", `Write ${files.join(", ")}?`, "yes")) || signal.aborted) throw cancelled();
  person.end();
  const document = parseDocument(proposalText(proposal, zone).text);
  for (const [key, value] of Object.entries(settings)) document.set(key, document.createNode(value));
  if (sealKey !== undefined) document.setIn(["ledger", "sealKey"], sealKey);
  const text = document.toString({ lineWidth: 120 });
  try {
    writeFiles({ path, text, replaces }, secrets.files);
  } catch (error) {
    throw cannotWrite(path, error);
  }
  return {
    path,
    secrets: [...secrets.files.keys()].map((file) => relative(folder, file)),
    sandbox: place === "sandbox",
    streams: proposal.streams.map(({ source, stream, from }) => ({ source, stream, from })),
    customer: customer === "" ? undefined : customer,
  };
}

async function mayBeWritten(person: Person, path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  if (await confirms(person, "replace", `${path} is there already. Replace it in the end?`, "no")) return true;
  throw new Problem({
    code: "init.exists",
    message: `${path} is there already and was not touched`,
    cure: "name another file with --config FILE",
    exitCode: exitCodes.usage,
  });
}

function zoneRefusal(zone: string): string | undefined {
  try {
    Temporal.Now.zonedDateTimeISO(zone);
    return undefined;
  } catch {
    return `there is no time zone ${zone}; write one such as Europe/Berlin`;
  }
}

async function askForSealKey(person: Person, secrets: TypedSecrets): Promise<string> {
  const choices = [
    { word: "make", means: "a new one in a file beside the configuration (0600); keep a copy of it" },
    { word: "env", means: `the environment variable ${sealKeyVariable}` },
  ];
  const text = "Where is the key that seals the passwords of new staff?";
  const answer = await person.ask({ id: "sealKey", text, usual: "make", choices });
  return answer === "make" ? secrets.keep("seal-key", systemRandomness.hex(32)) : `env:${sealKeyVariable}`;
}

async function askForCustomer(person: Person, { streams }: Proposal): Promise<string> {
  const customers = streams.find(({ stream }) => stream === "customers");
  if (customers === undefined) return "";
  const id = customers.fields.find(({ field }) => field === "id")?.expression;
  const first = customers.columns.find(({ path }) => path === id)?.examples[0];
  const text = "Id of a customer whose plan is shown in the end; nothing is sent";
  return await person.ask({ id: "customer", text, usual: first ?? "" });
}

function cannotWrite(path: string, error: unknown): Problem {
  return new Problem({
    code: "init.cannot-write",
    message: `${path} cannot be written: ${messageOf(error)}; nothing was written`,
    cure: "check that the folder exists, that it has room, and that this user may write there",
    exitCode: exitCodes.usage,
    cause: error,
  });
}
