import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { Stream } from "../../crm/model.ts";
import type { ColumnFacts } from "./columns.ts";
import { plainText } from "./columns.ts";
import { dateForm } from "./dates.ts";
import { listNames } from "./names.ts";
import type { ListKind } from "./names.ts";

/** One field of a proposed mapping, with what nobody can tell from the rows alone. */
export interface ProposedField {
  field: string;
  /** Undefined: nothing fills it, and the doubt says what that means. */
  expression: Json | undefined;
  doubt: string | undefined;
}

/** Detail rows of orders: the name under which the mapping sees them, and their columns. */
export interface ProposedLines {
  name: string;
  columns: readonly ColumnFacts[];
}

/** Where staff holds seats of orders: the name under which the mapping sees the rows of a person, and their order. */
export interface ProposedSeats {
  /** Undefined: a person has one row. */
  rows: string | undefined;
  order: string;
  /** The look-up table that has the customer of each order. */
  table: string | undefined;
}

interface Found {
  column: ColumnFacts;
  /** Why it may be another one; undefined: its name is known. */
  doubt: string | undefined;
}

/** What a list most likely holds, by its own name and the names of its columns; undefined: nothing fits. */
export function kindOfList(name: string, columns: readonly ColumnFacts[]): ListKind | undefined {
  const plain = plainText(name);
  const kinds: ListKind[] = ["lines", "staff", "orders", "customers"];
  const called = kinds.filter((kind) => listNames[kind].called.some((word) => plain.includes(word)));
  if (called[0] !== undefined) return called[0];
  const scores = kinds.map((kind) => {
    const fields = Object.entries(listNames[kind].fields).filter(([field]) => field !== "order");
    return { kind, score: fields.filter(([, names]) => columns.some(({ plain: own }) => names.includes(own))).length };
  });
  const [best] = scores.sort((one, other) => other.score - one.score);
  return best === undefined || best.score < 2 ? undefined : best.kind;
}

/** The column of each known field of a list. A column is given to one field, but for ids, which several may read. */
export function columnsByField(kind: ListKind, columns: readonly ColumnFacts[]): Map<string, Found> {
  // Of what a list holds, the first contact of a customer says something of all of it.
  const mayRead = (field: string, { isOfList }: ColumnFacts): boolean =>
    !isOfList || (kind === "customers" && field.startsWith("admin"));
  const found = new Map<string, Found>();
  for (const [field, names] of Object.entries(listNames[kind].fields)) {
    for (const name of names) {
      const column = columns.find((item) => item.plain === name && mayRead(field, item));
      if (column === undefined) continue;
      found.set(field, { column, doubt: column.isOfList ? "it is taken from the first of a list" : undefined });
      break;
    }
  }
  const taken = new Set([...found.values()].map(({ column }) => column.path));
  for (const [field, names] of Object.entries(listNames[kind].fields)) {
    if (found.has(field)) continue;
    const like = names
      .map((name) => columns.find((item) => !taken.has(item.path) && mayRead(field, item) && isLike(item, name)))
      .find((column) => column !== undefined);
    if (like === undefined) continue;
    found.set(field, { column: like, doubt: "its name only resembles this field's" });
    taken.add(like.path);
  }
  const id = found.has("id") ? undefined : columns.find((item) => !taken.has(item.path) && looksLikeId(item));
  if (id !== undefined && kind !== "lines")
    found.set("id", { column: id, doubt: "no name tells it; it is the first column that no two rows have alike" });
  return found;
}

/** Ends of names that say something else of a thing than the thing. */
const ofAnotherKind = /(?:type|typ|art|id|date|datum|count|status|url|at)$/u;

function isLike({ plain, path }: ColumnFacts, name: string): boolean {
  if (name.length > 2 && path.includes(".") && plainText(path.slice(path.lastIndexOf(".") + 1)) === name)
    return name !== "name" && name !== "number" && name !== "code";
  if (name.length <= 3) return false;
  return plain.endsWith(name) || (plain.startsWith(name) && (!ofAnotherKind.test(plain) || ofAnotherKind.test(name)));
}

function looksLikeId({ isOfList, isUnique, isFilled, examples }: ColumnFacts): boolean {
  if (isOfList) return false;
  return isUnique && isFilled && examples.length > 1 && examples.every((text) => /^[\p{L}\p{N}_/-]{1,40}$/u.test(text));
}

/** The path of the field that tells the rows of a list apart, where one does. */
export function keyOfList(kind: ListKind, columns: readonly ColumnFacts[]): string | undefined {
  const id = columnsByField(kind, columns).get("id")?.column;
  return id !== undefined && id.isUnique && id.isFilled ? id.path : undefined;
}

/** Proposes the mapping of a stream from the columns of its rows. */
export function proposeMapping(
  stream: Stream,
  columns: readonly ColumnFacts[],
  options: { zone: string; lines: ProposedLines | undefined; seats: ProposedSeats | undefined },
): ProposedField[] {
  const proposal = new Proposal(columnsByField(stream, columns));
  switch (stream) {
    case "customers":
      return customerFields(proposal);
    case "orders":
      return orderFields(proposal, options);
    case "staff":
      return staffFields(proposal, options.seats);
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

  add(field: string, expression: Json | undefined, doubt?: string): void {
    this.fields.push({ field, expression, doubt });
  }

  /** The column of a field as it is. `without` says what it means that there is none. */
  take(field: string, without?: { expression?: Json; doubt: string }): void {
    const found = this.#found.get(field);
    if (found !== undefined) {
      this.add(field, found.column.path, found.doubt);
    } else if (without !== undefined) this.add(field, without.expression, `${noColumn}; ${without.doubt}`);
  }
}

/** Stands for a column that a person has to name: no list has it, so that nothing is read before. */
export const toChoose = "CHOOSE_A_COLUMN";

const noColumn = "no column looks like it";

function customerFields(proposal: Proposal): ProposedField[] {
  proposal.take("id", { expression: toChoose, doubt: "each customer needs an id of its own" });
  proposal.take("name", { expression: toChoose, doubt: "each customer needs a name" });
  const type = proposal.path("customerType");
  if (type === undefined) proposal.add("customerType", { value: "company" }, "that nobody here is a private person");
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
  else proposal.take("address", { doubt: "without it a customer exists and cannot be ordered for" });
  proposal.take("branchCode", { expression: { value: "B1" }, doubt: "one branch for all is written to the platform" });
  proposal.take("branchName", { expression: { value: "Head office" }, doubt: "one branch for all" });
  const forOrders = "without it a customer exists and cannot be ordered for";
  proposal.take("adminName", { expression: proposal.path("name") ?? toChoose, doubt: "the customer's own name" });
  const id = proposal.path("id");
  proposal.take("adminAccount", {
    ...(id === undefined ? {} : { expression: { lower: id } }),
    doubt: "made of the id",
  });
  for (const field of ["adminEmail", "adminMobile"]) proposal.take(field, { doubt: forOrders });
  const mobile = proposal.path("adminMobile");
  proposal.add("purchaserMobile", mobile, mobile === undefined ? `${noColumn}; ${forOrders}` : "that the contact buys");
  return proposal.fields;
}

function orderFields(
  proposal: Proposal,
  { zone, lines }: { zone: string; lines: ProposedLines | undefined },
): ProposedField[] {
  const id = proposal.path("id") ?? toChoose;
  proposal.take("id", { expression: toChoose, doubt: "each order needs an id of its own" });
  proposal.take("customerId", { expression: toChoose, doubt: "each order needs its customer" });
  const placed = proposal.path("placedAt");
  const form = dateForm(proposal.examples("placedAt"), zone);
  if (placed !== undefined && form !== undefined)
    proposal.add("placedAt", { date: placed, ...form.options }, form.doubt);
  else if (placed !== undefined) proposal.add("placedAt", { date: placed, zone }, "how its times are written");
  const status = proposal.path("cancelled");
  if (status !== undefined) {
    const words = proposal.examples("cancelled");
    const isOver = (word: string): boolean => /cancel|void|storn|reject|^(?:true|1|y|yes)$/iu.test(word);
    const over = words.filter(isOver);
    const going = words.filter((word) => !isOver(word));
    proposal.add(
      "cancelled",
      { boolean: status, true: over.length === 0 ? ["CANCELLED"] : over, false: going.length === 0 ? ["OPEN"] : going },
      "which words mean that an order is cancelled: its licences are removed",
    );
  }
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
  proposal.add("instances", instancesOf(id, proposal, lines), "licence type, product type and term of the purchase");
  return proposal.fields;
}

/** The id of the asset of an order, whose own id is at a path. */
function assetOf(order: string): JsonObject {
  return { template: `A-{${order}}` };
}

/** One asset for each order, and a product for each of its lines; without lines, one product for each order. */
function instancesOf(id: string, proposal: Proposal, lines: ProposedLines | undefined): Json {
  const asset: JsonObject = {
    kind: "asset",
    one: { id: assetOf(id), licenseType: { value: "cloud_account" } },
  };
  const found = columnsByField("lines", lines?.columns ?? []);
  const line = found.get("id")?.column.path;
  const product = found.get("product")?.column.path ?? line;
  const own = lines === undefined ? id : (product ?? toChoose);
  const up = lines === undefined ? "" : "^.";
  const constants = {
    type: { value: "tool" },
    timeUnit: { value: "NONE" },
    timeUnitQuantity: { value: 0 },
    term: { value: "0-0-0" },
  };
  const quantity = found.get("quantity")?.column.path;
  const fields: JsonObject = {
    id: { template: lines === undefined ? `P-{${own}}` : `{^.${id}}-{${line ?? own}}` },
    parentId: assetOf(`${up}${id}`),
    name: found.get("name")?.column.path ?? own,
    gmsPid: { text: own },
    nodes: quantity ?? { value: 1 },
    ...constants,
  };
  return [
    asset,
    lines === undefined ? { kind: "product", one: fields } : { kind: "product", each: lines.name, fields },
  ];
}

function staffFields(proposal: Proposal, seats: ProposedSeats | undefined): ProposedField[] {
  proposal.take("id", { expression: toChoose, doubt: "each person needs an id of its own" });
  const customer = proposal.path("customerId");
  if (customer === undefined && seats?.table !== undefined) {
    const key = seats.rows === undefined ? seats.order : withinFirst(seats.rows, seats.order);
    proposal.add(
      "customerId",
      { lookup: { table: seats.table, key } },
      "that the customer of the order is the person's",
    );
  } else proposal.take("customerId", { expression: toChoose, doubt: "each person needs a customer" });
  const email = proposal.path("email");
  proposal.take("userName", {
    expression: email === undefined ? toChoose : { login: email },
    doubt: email === undefined ? "an account name has letters and digits only" : "made of the e-mail address",
  });
  const names = ["firstName", "lastName"].flatMap((part) => proposal.path(part) ?? []);
  if (proposal.path("name") === undefined && names.length > 0) proposal.add("name", { concat: names, separator: " " });
  else proposal.take("name", { expression: toChoose, doubt: "each person needs a name" });
  for (const field of ["mobile", "remark", "departmentId"]) proposal.take(field);
  if (seats === undefined)
    proposal.add("assets", [], "which licences each person should hold; without any, nothing is granted");
  else {
    const fields = { instanceId: assetOf(seats.order) };
    const assets: Json =
      seats.rows === undefined ? { one: fields } : { each: { distinct: seats.rows, by: seats.order }, fields };
    proposal.add(
      "assets",
      assets,
      "that one person holds the asset of an order: for several, give it a quantity, or one for each line",
    );
  }
  return proposal.fields;
}

/** A field of the first of the rows that stand under a name. */
export function withinFirst(rows: string, path: string): string {
  return path.startsWith("[") ? `${rows}[0]${path}` : `${rows}[0].${path}`;
}
