import { usage } from "../base/errors.ts";
import type { ClosedFileFacts } from "../report/books.ts";
import type { Application } from "./application.ts";
import { requireAsClosed } from "./books.ts";
import { FrozenFiles } from "./frozen-files.ts";

/**
 * One frozen file of a closing, byte for byte, with what is known of it. Throws a Problem where the tables say
 * otherwise of the closing than its audit entry, where the bytes are not those that were frozen, and where there is no
 * such file.
 */
export async function frozenFile(
  application: Pick<Application, "inquiry" | "ledgerPath" | "group">,
  { period, closing: number, name }: { period: string; closing: number; name: string },
): Promise<{ file: ClosedFileFacts; bytes: AsyncIterable<Buffer> }> {
  const inquiry = await application.inquiry();
  const closing = (await inquiry.closings(period)).find((one) => one.closing === number);
  const files = closing === undefined ? [] : await inquiry.closedFiles(period, number);
  const file = files.find((one) => one.name === name);
  if (closing === undefined || file === undefined)
    throw usage(
      `the closing ${number} of ${period} has no file ${JSON.stringify(name)}`,
      "choose one of those that the page of the period lists",
    );
  await requireAsClosed(inquiry, closing, files);
  const bytes = await new FrozenFiles(application.ledgerPath, application.group).read(file);
  return { file, bytes };
}
