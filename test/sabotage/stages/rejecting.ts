import { rejecting } from "../breaks/rejecting.ts";
import { stage } from "../stage.ts";

stage(rejecting);
