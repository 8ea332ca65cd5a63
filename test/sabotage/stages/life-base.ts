import { lifeBase } from "../breaks/life-base.ts";
import { stage } from "../stage.ts";

stage(lifeBase);
