import type { IHookFunctions } from 'n8n-workflow';

/** What n8n stores with the workflow, in its static data. */
export interface StoredTool {
	/** The name under which the tool was last published. */
	name?: string;
	secret?: string;
	/** The revision of the publication, while the workflow is published. */
	revision?: number;
	/** The draft that is called while an editor listens for a test event. */
	draftId?: string;
}

export const readStoredTool = (context: Pick<IHookFunctions, 'getWorkflowStaticData'>) =>
	context.getWorkflowStaticData('node') as StoredTool;
