import { basename, dirname } from "node:path";
import { Problem } from "../base/errors.ts";
import type { BoundJob } from "../operate/job.ts";
import { reasonOf } from "../operate/notify/channels.ts";
import { sendMail } from "../operate/mail.ts";
import type { Application } from "./application.ts";

/**
 * Mails the reports of a job to those whom it names. Throws a Problem where the mail server does not take them: the
 * files stay where they were written, and the job has not done what it is for.
 */
export async function mailReports(
  { config, secrets, logger }: Pick<Application, "config" | "secrets" | "logger">,
  { id, mailTo }: Pick<BoundJob, "id" | "mailTo">,
  month: string,
  files: readonly string[],
): Promise<void> {
  const { mail } = config;
  if (mail === undefined || mailTo.length === 0) return;
  const names = files.map((path) => basename(path));
  const folders = [...new Set(files.map((path) => dirname(path)))];
  try {
    await sendMail(
      mail,
      {
        to: mailTo,
        subject: `crm-sync: reports of ${month}`,
        text: `The reports of ${month}, written by the job ${id}:\n\n${names.map((name) => `  ${name}\n`).join("")}`,
        files: files.map((path) => ({ name: basename(path), path })),
      },
      (reference) => secrets.reveal(reference),
    );
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem({
      code: "report.not-mailed",
      message:
        `the reports of ${month} were written, but not mailed: the mail server ${mail.host}:${mail.port} did not ` +
        `accept them (${reasonOf(error, secrets.known)})`,
      cure:
        `correct \`mail\` in the configuration, then run \`crm-sync run ${id}\` again. The files are in ` +
        folders.join(", "),
    });
  }
  logger.info({ job: id, month, recipients: mailTo.length, files: files.length }, "reports mailed");
}
