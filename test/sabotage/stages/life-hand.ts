import { lifeByHand } from "../breaks/life-hand.ts";
import { stage } from "../stage.ts";

stage(lifeByHand);
