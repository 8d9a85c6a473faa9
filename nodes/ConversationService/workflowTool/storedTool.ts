import type { IHookFunctions } from 'n8n-workflow';
import type { StoredPublication } from '../shared/publication';

/** What n8n stores in the workflow's static data. */
export interface StoredTool extends StoredPublication {
	/** The name under which the tool was last published. */
	name?: string;
	/** The draft that the service calls while the user executes the step. */
	draftId?: string;
}

export const readStoredTool = (context: Pick<IHookFunctions, 'getWorkflowStaticData'>) =>
	context.getWorkflowStaticData('node') as StoredTool;
