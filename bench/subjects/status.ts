import { join } from "node:path";
import { parseArgs } from "node:util";
import { openQueries } from "../../src/inquiry/queries.ts";
import { text } from "./arguments.ts";

/** What `status` asks the ledger, in a process of its own. */
const { values } = parseArgs({ options: { directory: { type: "string" } }, strict: false });
const queries = await openQueries(join(text(values["directory"], "directory"), "ledger.db"));
const { audit } = await queries.status();
queries.close();
process.stdout.write(`${JSON.stringify({ audit })}\n`);
