import Database from "better-sqlite3";
import { join } from "node:path";
import { expect, it } from "vitest";
import { directoryWith, openSource, readAll } from "../support.ts";

it("rows of a query become one record for each key, and a group that a column lacks for is told before it is read", async () => {
  const directory = directoryWith({});
  const database = new Database(join(directory, "erp.db"));
  database.exec("create table seat (id integer primary key, login text, customer text, number text)");
  const insert = database.prepare("insert into seat (login, customer, number) values (?, ?, ?)");
  for (const [login, number] of [
    ["anna", "8000000001"],
    ["bert", "8000000002"],
    ["anna", "8000000003"],
  ])
    insert.run(login, "C1", number);
  database.close();
  const source = (by: string): ReturnType<typeof openSource> =>
    openSource(
      {
        kind: "sql",
        connection: { kind: "sqlite", file: "erp.db" },
        streams: {
          staff: {
            query: "select id, login, customer, number from seat",
            key: "id",
            group: { by, into: "seats", fields: { login: "login", customer: "customer" } },
            mapping: {
              id: "login",
              customerId: "customer",
              userName: "login",
              name: "login",
              assets: { each: "seats", fields: { assetNumber: "number" } },
            },
          },
        },
      },
      directory,
    );
  const reading = await readAll(source("login"), "staff");
  expect(reading.outcome).toMatchObject({ complete: true, full: true });
  expect(reading.raws.map(({ value }) => [value["login"], (value["seats"] as unknown[]).length])).toEqual([
    ["anna", 2],
    ["bert", 1],
  ]);
  const wrong = await readAll(source("loginn"), "staff");
  expect(wrong.outcome.complete).toBe(false);
  expect(wrong.outcome.problem?.message).toContain("gives no column loginn");
});
