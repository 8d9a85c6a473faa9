// The thread that reads large answers of tools, one after the other.
import { answerOrders } from '../../platform/security/threadScript.ts';
import { readAttempt, type AnswerOrder } from './readAnswer.ts';

answerOrders((order: AnswerOrder) => readAttempt(order));
