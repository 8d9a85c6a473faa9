// The thread that reads large answers of tools, one after the other.
import { answerTasks } from '../../platform/security/threadScript.ts';
import { readAttempt, type AnswerTask } from './readAnswer.ts';

answerTasks((task: AnswerTask) => readAttempt(task));
