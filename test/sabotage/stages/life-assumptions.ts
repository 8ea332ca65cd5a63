import { lifeAssumptions } from "../breaks/life-assumptions.ts";
import { stage } from "../stage.ts";

stage(lifeAssumptions);
