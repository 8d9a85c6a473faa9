/** Who acted on a conversation: everyone but the customer. */
export interface Actor {
  readonly type: 'agent' | 'team_member' | 'api';
  readonly name: string;
  /** Of a team member. */
  readonly memberId?: string;
}
