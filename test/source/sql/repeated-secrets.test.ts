import { createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { around, shownOf, spellings } from "../../support/secret-spellings.ts";
import { readAll } from "../support.ts";
import { sourceOf } from "./database.ts";

const secret = "sk_Live-9f8E7d6C5b4A 3z<q>&%41";

/** What a database answers to what came, and to a connection at first. */
type Speak = (came: Buffer | undefined) => Buffer | undefined;

/** A database that says nothing but this. */
async function startDatabase(speaking: () => Speak): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const speak = speaking();
    const say = (answer: Buffer | undefined): void => void (answer !== undefined && socket.write(answer));
    open.add(socket);
    socket.on("error", () => {});
    socket.on("data", (came) => say(speak(Buffer.from(came))));
    say(speak(undefined));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const now = "2026-11-02T08:00:00.000000Z";
const uint32 = (value: number): Buffer => Buffer.from([24, 16, 8, 0].map((bits) => (value >>> bits) & 0xff));

/** PostgreSQL: an error at the log-in, or at the query of a stream. */
const postgres = (words: string, atOnce: boolean, code: string): Speak => {
  const message = (type: string, ...body: (string | Buffer)[]): Buffer => {
    const bytes = Buffer.concat(body.map((part) => (typeof part === "string" ? Buffer.from(part, "utf8") : part)));
    return Buffer.concat([Buffer.from(type), uint32(bytes.length + 4), bytes]);
  };
  const ready = message("Z", "T");
  const fields = Object.entries({ S: "ERROR", V: "ERROR", C: code, M: words, D: words, H: words });
  const error = message("E", ...fields.map(([name, text]) => `${name}${text}\0`), "\0");
  const done = message("C", "DONE\0");
  const column = message("T", Buffer.from([0, 1]), "now\0", Buffer.alloc(18));
  const row = message("D", Buffer.from([0, 1]), uint32(now.length), now);
  let isIn = false;
  return (came) => {
    if (came === undefined) return undefined;
    if (!isIn) {
      isIn = true;
      return atOnce ? error : Buffer.concat([message("R", uint32(0)), ready]);
    }
    if (came.toString("latin1", 0, 1) === "Q") return Buffer.concat([done, ready]);
    const isTime = came.includes("to_char(now()");
    return Buffer.concat(isTime ? [message("1"), message("2"), column, row, done, ready] : [error, ready]);
  };
};

const cases: [what: string, speak: (words: string) => Speak][] = [
  ["PostgreSQL at the log-in", (words) => postgres(words, true, "28P01")],
  ["PostgreSQL at a query", (words) => postgres(words, false, "42601")],
  ["PostgreSQL in an error without a code", (words) => postgres(words, true, words)],
];

it.each(cases)("%s, which repeats our password, is not repeated", async (what, speak) => {
  for (const [name, text] of [...spellings(secret), ...around(secret)]) {
    const port = await startDatabase(() => speak(`near "${text}" in the query`));
    const connection = {
      kind: "postgres",
      host: "127.0.0.1",
      port,
      database: "erp",
      user: "crm",
      password: "env:ERP_PASSWORD",
      tls: "off",
    };
    const database = { connection, secret };
    const source = sourceOf(database, { customers: { query: "select 1 as id", key: "id" } });
    const { problem } = (await readAll(source, "customers")).outcome;
    const checked = await source.check().then(
      (found) => found,
      (thrown: unknown) => thrown,
    );
    const all = [problem, checked].map((one) =>
      one instanceof Error
        ? [one.message, "cure" in one && one.cure, "place" in one && one.place, String(one.cause)]
        : [],
    );
    const told = what.endsWith("query") ? /refused by the database.*near/u : /does not let us in|cannot be reached/u;
    expect.soft(problem?.message, what).toMatch(told);
    expect.soft(shownOf(secret, JSON.stringify(all)), name).toEqual([]);
  }
});
