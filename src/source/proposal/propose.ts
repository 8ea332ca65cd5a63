import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { Stream } from "../../crm/model.ts";
import { toChoose } from "../problems.ts";
import {
  columnsByField,
  columnsNamed,
  dateForm,
  looksLikeStates,
  quoted,
  skipOf,
  statesOf,
  type ColumnFacts,
  type Doubt,
  type Found,
  type ProposedSkip,
  type StatesOfSale,
} from "./columns.ts";
import { proposeInstances, type ProposedLines } from "./instances.ts";
import { instanceNames, saleStates } from "./names.ts";
import { isUtf8 } from "node:buffer";
import { utf16Of } from "../file/bytes.ts";
import { namedDelimiter } from "../file/csv.ts";

export interface ProposedField {
  field: string;
  /** Undefined: nothing fills the field; the doubt explains what that means. */
  expression: Json | undefined;
  doubts: readonly Doubt[];
}

interface ProposedMapping {
  fields: ProposedField[];
  skip: ProposedSkip | undefined;
}

export function proposeMapping(
  stream: Stream,
  columns: readonly ColumnFacts[],
  options: {
    zone: string;
    lines: ProposedLines | undefined;
  },
): ProposedMapping {
  const found = columnsByField(stream, columns);
  const proposal = new Proposal(found);
  switch (stream) {
    case "customers":
      return { fields: customerFields(proposal), skip: undefined };
    case "orders": {
      const states = statesOfOrders(found, columns);
      return { fields: orderFields(proposal, { ...options, own: columns }, states), skip: skipOf(states) };
    }
    case "staff":
      return { fields: staffFields(proposal), skip: undefined };
  }
}

class Proposal {
  readonly fields: ProposedField[] = [];
  readonly #found: ReadonlyMap<string, Found>;

  constructor(found: ReadonlyMap<string, Found>) {
    this.#found = found;
  }

  path(field: string): string | undefined {
    return this.#found.get(field)?.column.path;
  }

  examples(field: string): readonly string[] {
    return this.#found.get(field)?.column.examples ?? [];
  }

  phone(field: string): Json | undefined {
    const column = this.#found.get(field)?.column;
    return column === undefined ? undefined : phoneOf(column, this.#found.get("country")?.column).expression;
  }

  add(field: string, expression: Json | undefined, doubt?: string | readonly Doubt[]): void {
    const doubts = typeof doubt === "string" ? [{ at: [], text: doubt }] : (doubt ?? []);
    this.fields.push({ field, expression, doubts });
  }

  /** In the platform's form: + and digits. */
  takePhone(field: string, without?: { doubt: string }): void {
    const found = this.#found.get(field);
    if (found === undefined) {
      this.take(field, without);
      return;
    }
    const { expression, doubt } = phoneOf(found.column, this.#found.get("country")?.column);
    const doubts = [found.doubt, doubt].filter((text) => text !== undefined);
    this.add(field, expression, doubts.length === 0 ? undefined : doubts.join("; "));
  }

  take(field: string, without?: { expression?: Json; doubt: string }): void {
    const found = this.#found.get(field);
    if (found !== undefined) {
      this.add(field, found.column.path, found.doubt);
    } else if (without !== undefined) this.add(field, without.expression, `${noColumn}; ${without.doubt}`);
  }
}

const noColumn = "no column looks like it";

function customerFields(proposal: Proposal): ProposedField[] {
  proposal.take("id", { expression: toChoose, doubt: "each customer needs an id of its own" });
  proposal.take("name", { expression: toChoose, doubt: "each customer needs a name" });
  const type = proposal.path("customerType");
  if (type === undefined) proposal.add("customerType", { value: "company" }, "nobody here is a private person");
  else {
    const isPerson = (word: string): boolean => /person|privat|^p$/iu.test(word);
    const words = proposal
      .examples("customerType")
      .map((word): [string, Json] => [word, isPerson(word) ? "personal" : "company"]);
    const values: JsonObject = Object.fromEntries(words);
    proposal.add("customerType", { map: type, values, default: "company" }, "which words mean a private person");
  }
  const parts = new Set(["street", "postalCode", "city", "country"].flatMap((part) => proposal.path(part) ?? []));
  if (parts.size > 1) proposal.add("address", { concat: [...parts], separator: ", " });
  else proposal.take("address", { doubt: "nothing can be ordered for a customer without it" });
  proposal.take("branchCode", { expression: { value: "B1" }, doubt: "one branch for all customers" });
  proposal.take("branchName", { expression: { value: "Head office" }, doubt: "one branch for all customers" });
  const forOrders = "nothing can be ordered for a customer without it";
  proposal.take("adminName", { expression: proposal.path("name") ?? toChoose, doubt: "the customer's own name" });
  const id = proposal.path("id");
  proposal.take("adminAccount", {
    ...(id === undefined ? {} : { expression: { lower: id } }),
    doubt: "made of the id",
  });
  proposal.take("adminEmail", { doubt: forOrders });
  proposal.takePhone("adminMobile", { doubt: forOrders });
  const mobile = proposal.phone("adminMobile");
  const buyer = proposal.phone("purchaserMobile");
  if (buyer !== undefined) proposal.add("purchaserMobile", mobile === undefined ? buyer : { first: [buyer, mobile] });
  else
    proposal.add(
      "purchaserMobile",
      mobile,
      mobile === undefined ? `${noColumn}; ${forOrders}` : "the contact is the buyer",
    );
  return proposal.fields;
}

function orderFields(
  proposal: Proposal,
  instances: {
    zone: string;
    lines: ProposedLines | undefined;
    own: readonly ColumnFacts[];
  },
  states: readonly StatesOfSale[],
): ProposedField[] {
  const { zone } = instances;
  const id = proposal.path("id") ?? toChoose;
  proposal.take("id", { expression: toChoose, doubt: "each order needs an id of its own" });
  proposal.take("customerId", { expression: toChoose, doubt: "each order needs its customer" });
  const placed = proposal.path("placedAt");
  const form = dateForm(proposal.examples("placedAt"), zone);
  if (placed !== undefined && form !== undefined)
    proposal.add("placedAt", { date: placed, ...form.options }, form.doubt);
  else if (placed !== undefined) proposal.add("placedAt", { date: placed, zone }, "how its times are written");
  cancelledField(proposal, states);
  const amount = proposal.path("amount");
  const currency = proposal.path("currency");
  if (amount !== undefined) {
    const comma = proposal.examples("amount").some((text) => /,\d{1,2}$/u.test(text));
    const marks = comma ? { decimalMark: ",", groupMark: "." } : {};
    const unit = currency === undefined ? "EUR" : { path: currency };
    proposal.add(
      "amount",
      { money: amount, currency: unit, ...marks },
      currency === undefined ? "the currency" : undefined,
    );
  }
  const { expression, doubts } = proposeInstances(id, instances);
  proposal.add("instances", expression, doubts);
  return proposal.fields;
}

function cancelledField(proposal: Proposal, states: readonly StatesOfSale[]): void {
  const column = states.find(({ over }) => over.length > 0) ?? states[0];
  if (column === undefined) {
    proposal.add("cancelled", undefined, "no column says which orders count: every row is ordered");
    return;
  }
  const { path, over, going } = column;
  const counting = going.length === 0 ? "" : `; rows with ${quoted(going)} are ordered`;
  proposal.add(
    "cancelled",
    {
      boolean: path,
      true: over.length === 0 ? ["CANCELLED"] : [...over],
      false: going.length === 0 ? ["OPEN"] : [...going],
    },
    over.length === 0
      ? `the word of ${path} for a cancelled order, whose licences are removed: no row has one${counting}`
      : `${quoted(over)} in ${path} means a cancelled order: its licences are removed${counting}`,
  );
}

function statesOfOrders(found: ReadonlyMap<string, Found>, columns: readonly ColumnFacts[]): StatesOfSale[] {
  const called = found.get("cancelled")?.column;
  const ofProducts = columnsNamed(instanceNames, columns).values();
  const taken = new Set([...[...found.values()].map(({ column }) => column), ...ofProducts].map(({ path }) => path));
  const others = columns.filter(
    (column) => !taken.has(column.path) && (saleStates.includes(column.plain) || looksLikeStates(column)),
  );
  return [...(called === undefined ? [] : [called]), ...others].map(statesOf);
}

function staffFields(proposal: Proposal): ProposedField[] {
  proposal.take("id", { expression: toChoose, doubt: "each person needs an id of its own" });
  proposal.take("customerId", { expression: toChoose, doubt: "each person needs a customer" });
  const names = ["firstName", "lastName"].flatMap((part) => proposal.path(part) ?? []);
  proposal.take("userName", userNameOf(proposal.path("email"), names));
  if (proposal.path("name") === undefined && names.length > 0) proposal.add("name", { concat: names, separator: " " });
  else proposal.take("name", { expression: toChoose, doubt: "each person needs a name" });
  proposal.takePhone("mobile");
  for (const field of ["remark", "departmentId"]) proposal.take(field);
  proposal.add("assets", [], "which licences a person holds is for you to write: nobody gets one");
  return proposal.fields;
}

function userNameOf(email: string | undefined, names: readonly string[]): { expression: Json; doubt: string } {
  if (email !== undefined) return { expression: { login: email }, doubt: "made of the e-mail address" };
  if (names.length === 0) return { expression: toChoose, doubt: "an account name has letters and digits only" };
  const address = { template: `${names.map((path) => `{${path}}`).join("")}@name` };
  return {
    expression: { login: { replace: address, pattern: " " } },
    doubt: `made of ${names.join(" and ")}; two people of one name get the same`,
  };
}

const guessedCountry = "DE";

function phoneOf(
  { path, examples }: ColumnFacts,
  country: ColumnFacts | undefined,
): { expression: Json; doubt?: string } {
  if (examples.every((text) => /^\+\d+$/u.test(text))) return { expression: path };
  if (examples.every((text) => /^\s*(?:\+|00)/u.test(text))) return { expression: { phone: path } };
  if (
    country !== undefined &&
    country.examples.length > 0 &&
    country.examples.every((text) => /^[A-Z]{2}$/u.test(text))
  )
    return { expression: { phone: path, country: { path: country.path } } };
  return { expression: { phone: path, country: guessedCountry }, doubt: "the country of numbers without + or 00" };
}

/** Guesses the encoding from the beginning of a file. Windows-1252 is only a guess. */
export function encodingOf(beginning: Buffer): string {
  // The beginning may end inside a character.
  const isText = [0, 1, 2, 3].some((cut) => isUtf8(beginning.subarray(0, beginning.length - cut)));
  return utf16Of(beginning) ?? (isText ? "utf-8" : "windows-1252");
}

/** Guesses the delimiter of a CSV file: from a `sep=` line, or else from the header. */
export function delimiterOf(beginning: Buffer): string {
  const text = new TextDecoder(encodingOf(beginning)).decode(beginning);
  const [header = ""] = text.split(/\r?\n/u);
  const counts = [",", ";", "\t", "|"].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }));
  const [best] = counts.sort((one, other) => other.count - one.count);
  return namedDelimiter(text)?.delimiter[0] ?? best?.delimiter ?? ",";
}
