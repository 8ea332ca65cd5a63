import { join } from "node:path";
import { parseArgs } from "node:util";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import { text } from "./arguments.ts";

/** What `status` asks the ledger, in a process of its own. */
const { values } = parseArgs({ options: { directory: { type: "string" } }, strict: false });
const inquiry = openInquiry(join(text(values["directory"], "directory"), "ledger.db"));
const { audit } = await inquiry.status();
inquiry.close();
process.stdout.write(`${JSON.stringify({ audit })}\n`);
