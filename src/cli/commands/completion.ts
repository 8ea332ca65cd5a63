import { Argument } from "@commander-js/extra-typings";
import { ok } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { shells } from "../shells.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("completion")
    .description("print a script with which a shell completes commands and options")
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .addHelpText("after", example("source <(crm-sync completion bash)"))
    .action((shell) =>
      carryOut(async ({ output }) => {
        const { definedCommands } = await import("../command-tree.ts");
        const { completionScript } = await import("../completion.ts");
        output.stdout.write(completionScript(shell, definedCommands(program)));
        return ok;
      }),
    );
};
