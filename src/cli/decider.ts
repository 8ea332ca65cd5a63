import { theCrm } from "../engine/model/requests.ts";
import { usage } from "../base/errors.ts";
import { systemUser } from "../base/who.ts";
import { personalIn } from "../requests/reason.ts";

const longest = 100;

/**
 * Who decides: `--by NAME`, or the user of the operating system. It stands in the audit log for good, so it has to
 * be printable and short; a name of an operator is no private data of a customer.
 */
export function deciderOf(by: string | undefined): string {
  const name = (by ?? systemUser()).trim();
  if (name === "") throw usage("--by needs a name", "say who decides, such as --by anna.lee");
  if (name.length > longest || /[\p{C}\p{Zl}\p{Zp}]/u.test(name))
    throw usage(
      `--by takes a name of at most ${longest} printable characters`,
      "say who decides, such as --by anna.lee",
    );
  if (name === theCrm)
    throw usage(`--by ${name} would say that the CRM asked`, "say who decides, such as --by anna.lee");
  const held = by === undefined ? undefined : personalIn(name);
  if (held !== undefined)
    throw usage(`--by holds ${held.what}; ${held.means}`, "say who decides, such as --by anna.lee");
  return name;
}
