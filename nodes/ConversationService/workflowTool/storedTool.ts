import type { IHookFunctions } from 'n8n-workflow';
import type { StoredPublication } from '../shared/publication';

/** What n8n stores with the workflow, in its static data. */
export interface StoredTool extends StoredPublication {
	/** The name under which the tool was last published. */
	name?: string;
	/** The draft that is called while an editor listens for a test event. */
	draftId?: string;
}

export const readStoredTool = (context: Pick<IHookFunctions, 'getWorkflowStaticData'>) =>
	context.getWorkflowStaticData('node') as StoredTool;
