import { usage } from "../base/errors.ts";
import type { ClosedFileFacts } from "../report/books.ts";
import type { Application } from "./application.ts";
import { requireAsClosed } from "./books.ts";
import type { Dashboard } from "./dashboard.ts";
import { FrozenFiles } from "./frozen-files.ts";

/**
 * One frozen file of a closing, byte for byte, with what is known of it. Throws a Problem where the tables say
 * otherwise of the closing than its audit entry, where the bytes are not those that were frozen, and where there is no
 * such file.
 */
export async function frozenFile(
  { application, read }: { application: Pick<Application, "ledgerPath" | "group">; read: Dashboard["read"] },
  { period, closing: number, name }: { period: string; closing: number; name: string },
): Promise<{ file: ClosedFileFacts; bytes: AsyncIterable<Buffer> }> {
  const file = await read(async (inquiry) => {
    const closing = (await inquiry.closings(period)).find((one) => one.closing === number);
    const files = closing === undefined ? [] : await inquiry.closedFiles(period, number);
    const found = files.find((one) => one.name === name);
    if (closing === undefined || found === undefined)
      throw usage(
        `the closing ${number} of ${period} has no file ${JSON.stringify(name)}`,
        "choose one of those that the page of the period lists",
      );
    await requireAsClosed(inquiry, closing, files);
    return found;
  });
  const bytes = await new FrozenFiles(application.ledgerPath, application.group).read(file);
  return { file, bytes };
}
