import { lifeRemovals } from "../breaks/life-removals.ts";
import { stage } from "../stage.ts";

stage(lifeRemovals);
