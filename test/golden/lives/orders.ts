import { company } from "../company.ts";
import type { Life } from "../life.ts";

export const lives: Life[] = [
  {
    name: "first-order",
    async live(life) {
      Object.assign(life.company, company(2, 2));
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("run", "verify");
      await life.run("status");
      await life.run("explain", "order", "O1");
    },
  },
];
