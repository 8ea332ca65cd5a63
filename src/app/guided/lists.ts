import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { isJsonObject } from "../../base/canonical-json.ts";
import { Problem, usage } from "../../base/errors.ts";
import { toChoose } from "../../source/proposal/propose.ts";
import type { ProposedField } from "../../source/proposal/propose.ts";
import type { ListKind } from "../../source/proposal/names.ts";
import { isAddress, kindUnknown, proposeFrom } from "../init-from.ts";
import type { AddressToken, Proposal, ProposedStream } from "../init-from.ts";
import { cancelled } from "./person.ts";
import type { Person } from "./person.ts";
import type { TypedSecrets } from "./typed-secrets.ts";

interface Looking {
  person: Person;
  secrets: TypedSecrets;
  folder: string;
  zone: string;
  signal: AbortSignal;
}

const kindsOfList: readonly { word: ListKind; means: string }[] = [
  { word: "customers", means: "who buys" },
  { word: "orders", means: "what was bought, one row an order" },
  { word: "lines", means: "the lines of orders" },
  { word: "staff", means: "people who get licences" },
];

/**
 * Asks for the lists of the CRM, looks at each when it is named, and proposes how they are read. What cannot be read
 * is named and asked for again.
 */
export async function askForLists(looking: Looking): Promise<Proposal> {
  const { person, folder, zone, signal } = looking;
  const named: string[] = [];
  const kinds = new Map<string, ListKind>();
  let token: AddressToken | undefined;
  let proposal: Proposal | undefined;
  for (;;) {
    const list = await person.ask({
      id: "lists",
      text:
        proposal === undefined
          ? "A list of the CRM: a file (CSV, JSON, lines of JSON) or the address of a list in JSON"
          : "Another list, such as orders, their lines or staff; nothing if there is no more",
      usual: proposal === undefined ? undefined : "",
    });
    if (list === "" && proposal !== undefined) return proposal;
    try {
      if (isAddress(list)) token ??= await tokenFor(looking);
      const options = { folder, zone, signal, kinds, ...(token === undefined ? {} : { token }) };
      // A list is looked at alone first: what is wrong with it is said of it, and not of those before.
      await kindFor(looking, list, kinds, (more) => proposeFrom([list, ...more], options));
      proposal = requireRows(await proposeFrom([...named, list], options), list);
      named.push(list);
      for (const { stream, rows, source } of proposal.streams)
        person.tell(`  ${source}, ${stream}: ${rows} rows were looked at`);
    } catch (error) {
      if (signal.aborted) throw cancelled();
      if (!(error instanceof Problem) || error.code === "init.cancelled") throw error;
      kinds.delete(list);
      // The token may be the reason, and is asked for again with the next address.
      if (isAddress(list) && !named.some(isAddress)) token = undefined;
      person.hear(error);
    }
  }
}

/** Asks what a list holds where nobody can tell. Lines alone make no stream, and are no mistake by themselves. */
async function kindFor(
  { person }: Looking,
  list: string,
  kinds: Map<string, ListKind>,
  look: (more: readonly string[]) => Promise<Proposal>,
): Promise<void> {
  try {
    requireRows(await look([]), list);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.message.startsWith("lines of orders alone")) return;
    if (error.code !== kindUnknown) throw error;
    const word = await person.ask({ id: "kind", text: `What does ${list} hold?`, choices: kindsOfList });
    const kind = kindsOfList.find((one) => one.word === word)?.word;
    if (kind !== undefined) kinds.set(list, kind);
  }
}

function requireRows(proposal: Proposal, list: string): Proposal {
  if (proposal.streams.every(({ rows }) => rows > 0)) return proposal;
  const [why] = proposal.streams.flatMap(({ rows, doubts }) => (rows > 0 ? [] : doubts));
  throw usage(
    `${list} holds no row that can be read${why === undefined ? "" : `: ${why}`}`,
    "give the list when there is something in it that can be read",
  );
}

async function tokenFor({ person, secrets }: Looking): Promise<AddressToken | undefined> {
  const choices = [
    { word: "none", means: "it asks for nothing" },
    { word: "bearer", means: "a token in the Authorization header" },
  ];
  if ((await person.ask({ id: "log-in", text: "How does that address let us in?", usual: "none", choices })) === "none")
    return undefined;
  const reference = await secrets.ask(person, "token", "Bearer token of the CRM", "crm-token");
  try {
    return { reference, value: secrets.reveal(reference) };
  } catch {
    throw usage(`${reference} is not set here, so that the list cannot be looked at`, "set it, or type the token");
  }
}

/** Has a person confirm or correct each field of which nobody can tell. */
export async function confirmFields(person: Person, proposal: Proposal): Promise<Proposal> {
  const streams: ProposedStream[] = [];
  for (const stream of proposal.streams) {
    const fields: ProposedField[] = [];
    const doubtful = stream.fields.filter(({ doubt }) => doubt !== undefined).length;
    if (doubtful > 0)
      person.tell(
        `\n${stream.stream}: ${doubtful} of ${stream.fields.length} fields are guesses. Enter keeps one, a column ` +
          "takes its place, =text stands for all, - leaves it out.\n" +
          `  columns: ${stream.columns.map(({ path }) => path).join(", ")}`,
      );
    for (const field of stream.fields) fields.push(await confirmField(person, stream, field));
    streams.push({ ...stream, fields });
  }
  return { ...proposal, streams };
}

async function confirmField(
  person: Person,
  { stream, columns }: ProposedStream,
  proposed: ProposedField,
): Promise<ProposedField> {
  const { field, expression, doubt } = proposed;
  if (doubt === undefined) return proposed;
  const isOpen = JSON.stringify(expression ?? null).includes(toChoose);
  const paths = columns.map(({ path }) => path);
  const now = expression === undefined ? "nothing" : shortened(JSON.stringify(expression));
  const answer = await person.ask({
    id: `${stream}.${field}`,
    text: `${stream}.${field}: ${doubt}${isOpen ? "" : `; now ${now}`}`,
    usual: isOpen ? undefined : "",
    refusal: (said) => {
      if (said === "") return undefined;
      if (said === "-") return isOpen ? "it cannot be left out" : undefined;
      if (said.startsWith("=") || paths.includes(said)) return undefined;
      return `there is no column ${said}`;
    },
  });
  if (answer === "") return { field, expression, doubt: undefined };
  if (answer === "-") return { field, expression: undefined, doubt: undefined };
  const chosen = answer.startsWith("=") ? { value: answer.slice(1) } : inPlaceOf(expression, answer);
  return { field, expression: chosen, doubt: undefined };
}

/** What is long is looked at in the file. */
function shortened(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`;
}

const longestShown = 160;

/** Operators whose argument is a path: another column is read in the same way. */
const ofPath = ["date", "money", "boolean", "map", "login", "lower", "text"] as const;

function inPlaceOf(expression: Json | undefined, path: string): Json {
  if (expression === undefined || !isJsonObject(expression)) return path;
  const operator = ofPath.find((name) => typeof expression[name] === "string");
  const replaced: JsonObject = operator === undefined ? {} : { ...expression, [operator]: path };
  return operator === undefined ? path : replaced;
}
